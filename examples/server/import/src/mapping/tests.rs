use super::*;

fn cells(row: &str) -> Vec<String> {
    row.split('|').map(str::to_owned).collect()
}

fn mapping(head: &str, pairs: &[(&str, &str)]) -> Result<ColumnMapping, MappingError> {
    let synonyms = Synonyms::built_in().expect("synonyms");
    let own = |(member, column): &(&str, &str)| ((*member).to_owned(), (*column).to_owned());
    let options = MappingOptions {
        pairs: pairs.iter().map(own).collect(),
        ..MappingOptions::default()
    };
    ColumnMapping::new(&cells(head), &synonyms, &options)
}

/// Returns the members of columns, each with the name of its column, and the columns without one.
fn members(head: &str) -> (Vec<String>, Vec<String>) {
    let mapping = mapping(head, &[]).expect("a mapping");
    let names = cells(head);
    let mapped = mapping.columns().iter();
    (
        mapped.map(|one| one.member.to_string()).collect(),
        mapping
            .left_out()
            .iter()
            .map(|place| names[*place].clone())
            .collect(),
    )
}

fn body(head: &str, row: &str) -> Value {
    let mapping = mapping(head, &[]).expect("a mapping");
    let mapped = mapping.row(&cells(row));
    assert_eq!(mapped.dropped, []);
    mapped.body
}

#[test]
fn every_synonym_has_a_member() {
    assert!(Synonyms::built_in().is_ok());
    let own = Synonyms::with_file("given_name = [\"Rufname\"]\nignored = [\"Nachname\"]")
        .expect("synonyms");
    let head = cells("Rufname|Nachname|Email");
    let mapping = ColumnMapping::new(&head, &own, &MappingOptions::default()).expect("a mapping");
    let all: Vec<String> = mapping
        .columns()
        .iter()
        .map(|one| one.member.to_string())
        .collect();
    assert_eq!(all, ["given_name", "email_addresses[1].address"]);
    let said = Synonyms::with_file("given_nam = []")
        .expect_err("no member")
        .to_string();
    assert_eq!(said, "`given_nam` is not a member that a column can set");
    assert!(Synonyms::with_file("given_name = 1").is_err());
}

/// The columns of five products, as their help pages and public code describe them.
#[test]
fn heads_of_five_products() {
    let (mapped, left) = members(
        "first_name|last_name|email|can2_phone|can2_state_abbreviated|zip_code|country|language|can2_subscription_status|can2_user_tags|uuid",
    );
    let expected = [
        "given_name",
        "family_name",
        "email_addresses[1].address",
        "phone_numbers[1].number",
        "postal_addresses[1].region",
        "postal_addresses[1].postal_code",
        "postal_addresses[1].country",
        "preferred_language",
        "email_addresses[*].status",
        "tags",
    ];
    assert_eq!(
        (mapped, left),
        (
            expected.map(str::to_owned).to_vec(),
            vec!["uuid".to_owned()]
        )
    );

    let (mapped, left) = members(
        "nationbuilder_id|first_name|middle_name|last_name|email|email1|email2|email_opt_in|phone_number|mobile_number|work_phone_number|primary_address1|primary_address2|primary_city|primary_state|primary_zip|primary_country_code|mailing_city|tag_list|sex|born_at|employer|do_not_call|support_level",
    );
    let expected = [
        "identifiers[nationbuilder]",
        "given_name",
        "additional_name",
        "family_name",
        "email_addresses[1].address",
        "email_addresses[2].address",
        "email_addresses[3].address",
        "email_addresses[*].status",
        "phone_numbers[1].number",
        "phone_numbers[Mobile].number",
        "phone_numbers[Work].number",
        "postal_addresses[1].address_lines[1]",
        "postal_addresses[1].address_lines[2]",
        "postal_addresses[1].locality",
        "postal_addresses[1].region",
        "postal_addresses[1].postal_code",
        "postal_addresses[1].country",
        "tags",
        "gender",
        "birthdate",
        "employer",
        "phone_numbers[*].do_not_call",
    ];
    assert_eq!(mapped, expected);
    assert_eq!(left, ["mailing_city", "support_level"]);

    let (mapped, left) = members(
        "Email Address|First Name|Last Name|Address|Phone Number|Birthday|MEMBER_RATING|OPTIN_TIME|LATITUDE|CC|REGION|LAST_CHANGED|LEID|EUID|NOTES|TAGS",
    );
    let expected = [
        "email_addresses[1].address",
        "given_name",
        "family_name",
        "postal_addresses[1].address_lines[1]",
        "phone_numbers[1].number",
        "birthdate",
        "identifiers[mailchimp_leid]",
        "identifiers[mailchimp_euid]",
        "tags",
    ];
    assert_eq!(mapped, expected);
    assert_eq!(left, ["NOTES"]);

    let (mapped, left) = members(
        "VANID|LastName|FirstName|MidName|Suffix|Address|City|State/Province|Zip/Postal|HomePhone|CellPhone|Preferred Email|DOB|Sex|Party",
    );
    let expected = [
        "identifiers[van]",
        "family_name",
        "given_name",
        "additional_name",
        "honorific_suffix",
        "postal_addresses[1].address_lines[1]",
        "postal_addresses[1].locality",
        "postal_addresses[1].region",
        "postal_addresses[1].postal_code",
        "phone_numbers[Home].number",
        "phone_numbers[Mobile].number",
        "email_addresses[1].address",
        "birthdate",
        "gender",
        "party_identification",
    ];
    assert_eq!(mapped, expected);
    assert_eq!(left, Vec::<String>::new());

    let (mapped, left) = members(
        "Contact ID|Contact Type|First Name|Last Name|Birth Date|Street Address|Supplemental Address 1|City|Postal Code|State|Country|Phone|Email|Do Not Email|Group(s)|Tag(s)|Current Employer",
    );
    let expected = [
        "identifiers[civicrm]",
        "given_name",
        "family_name",
        "birthdate",
        "postal_addresses[1].address_lines[1]",
        "postal_addresses[1].address_lines[2]",
        "postal_addresses[1].locality",
        "postal_addresses[1].postal_code",
        "postal_addresses[1].region",
        "postal_addresses[1].country",
        "phone_numbers[1].number",
        "email_addresses[1].address",
        "not email_addresses[*].status",
        "lists",
        "tags",
        "employer",
    ];
    assert_eq!(mapped, expected);
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn a_row_becomes_a_sign_up() {
    let head = "Vorname|Nachname|E-Mail|E-Mail 2|Telefon|Mobil|Straße|PLZ|Ort|Land|Bundesland|Geburtsdatum|Geschlecht|Newsletter|Tags|VANID";
    let row = "Ada|King|ada@x.org|b@x.org|030 12345678|0170 1234567|Am Hof 5|10115|Berlin|Deutschland|Thüringen|31.5.1990|w|ja|a; \"b, c\"|7";
    let expected = json!({
        "person": {
            "given_name": "Ada",
            "family_name": "King",
            "email_addresses": [{"address": "ada@x.org", "status": "subscribed"}, {"address": "b@x.org"}],
            "phone_numbers": [{"number": "030 12345678"}, {"number": "0170 1234567", "number_type": "Mobile"}],
            "postal_addresses": [{"address_lines": ["Am Hof 5"], "postal_code": "10115", "locality": "Berlin",
                "country": "DE", "region": "TH"}],
            "birthdate": {"year": 1990, "month": 5, "day": 31},
            "gender": "Female",
            "identifiers": ["van:7"],
        },
        "add_tags": ["a", "b, c"],
    });
    assert_eq!(body(head, row), expected);
}

#[test]
fn empty_cells_and_missing_ones_are_left_out() {
    assert_eq!(
        body("name|email|email status|address 2", "Ada King||subscribed|"),
        json!({"person": {"given_name": "Ada", "family_name": "King"}})
    );
    assert_eq!(
        body("first name|full name|email", "Ada|Other Name"),
        json!({"person": {"given_name": "Ada"}})
    );
}

#[test]
fn a_wrong_value_costs_its_cell() {
    let mapping = mapping("first|email|gender|country|state|dob", &[]).expect("a mapping");
    let row = mapping.row(&cells(
        "Ada|no address|maybe|Atlantis|Nowhere Land|3/4/1990",
    ));
    assert_eq!(row.body, json!({"person": {"given_name": "Ada"}}));
    let dropped: Vec<usize> = row.dropped.iter().map(|cell| cell.column).collect();
    assert_eq!(dropped, [1, 2, 3, 4, 5]);
    assert!(
        row.dropped[4].reason.contains("can be two dates"),
        "{:?}",
        row.dropped
    );
}

#[test]
fn other_rows_show_the_order_of_dates() {
    let mut mapping = mapping("email|dob", &[]).expect("a mapping");
    mapping.learn(&cells("a@x.org|5/31/1990"));
    let row = mapping.row(&cells("b@x.org|3/4/1990"));
    assert_eq!(
        row.body["person"]["birthdate"],
        json!({"year": 1990, "month": 3, "day": 4})
    );
}

#[test]
fn pairs_precede_names() {
    let head = "Name|Mail|Shoe size|C";
    let pairs = [
        ("family_name", "name"),
        ("email", "B"),
        ("custom_fields.shoe", "Shoe size"),
    ];
    let mapping = mapping(head, &pairs).expect("a mapping");
    let row = mapping.row(&cells("King|ada@x.org|38|x"));
    assert_eq!(
        row.body["person"],
        json!({"family_name": "King", "email_addresses": [{"address": "ada@x.org"}], "custom_fields": {"shoe": "38"}})
    );
    assert_eq!(mapping.left_out(), [3]);
}

#[test]
fn what_cannot_be_mapped_says_what_could() {
    let said = |head: &str, pairs: &[(&str, &str)]| {
        mapping(head, pairs).expect_err("no mapping").to_string()
    };
    assert_eq!(
        said("a|b", &[("email", "c")]),
        "there is no column `c`, only A (a), B (b)"
    );
    let text = said("a|b", &[("emial", "a")]);
    assert!(
        text.starts_with(
            "`emial` is not a member that a column can set; allowed are family_name, "
        ),
        "{text}"
    );
    assert_eq!(
        said(
            "a|b",
            &[("email", "a"), ("email_addresses[1].address", "b")]
        ),
        "the columns `a` and `b` both set `email_addresses[1].address`"
    );
    assert!(said("a|b", &[]).ends_with("is the name of a member: A (a), B (b)"));
    assert_eq!(
        said("a|b", &[("email", "a"), ("given_name", "A")]),
        "the column `a` has two members: `email_addresses[1].address` and `given_name`"
    );
}

#[test]
fn the_rest_can_become_custom_fields() {
    let options = MappingOptions {
        rest_custom: true,
        ..MappingOptions::default()
    };
    let synonyms = Synonyms::built_in().expect("synonyms");
    let head = cells("Email|Shoe size||Member rating|Shoe size");
    let mapping = ColumnMapping::new(&head, &synonyms, &options).expect("a mapping");
    let row = mapping.row(&cells("a@x.org|38|x|5|39"));
    assert_eq!(mapping.ignored(), [3]);
    assert_eq!(
        row.body["person"]["custom_fields"],
        json!({"Shoe size": "38", "Shoe size 2": "39"})
    );
}

/// The strictest of several columns counts, an objection counts for every address, and no column loosens another.
#[test]
fn consents_of_a_row() {
    let states = |head: &str, row: &str| {
        let body = body(head, row);
        let entries = body["person"]["email_addresses"].as_array().cloned();
        let entries = entries.into_iter().flatten();
        let states = entries.map(|entry| entry["status"].as_str().unwrap_or("none").to_owned());
        states.collect::<Vec<String>>()
    };
    let two = "Email|Email 2|Opt in";
    assert_eq!(
        states(two, "a@x.org|b@x.org|no"),
        ["unsubscribed", "unsubscribed"]
    );
    assert_eq!(states(two, "a@x.org|b@x.org|yes"), ["subscribed", "none"]);
    let civicrm = "Email|Do Not Email|No Bulk Emails (User Opt Out)";
    assert_eq!(states(civicrm, "a@x.org|No|Yes"), ["unsubscribed"]);
    assert_eq!(states(civicrm, "a@x.org|Yes|No"), ["unsubscribed"]);
    assert_eq!(states(civicrm, "a@x.org|No|No"), ["none"]);
    let both = states("Email|Unsubscribed|Newsletter", "a@x.org|yes|yes");
    assert_eq!(both, ["unsubscribed"]);
    assert_eq!(
        states("Work Email|Unsubscribed", "a@x.org|yes"),
        ["unsubscribed"]
    );
    let numbers = body("Home Phone|Do Not Call", "5550100199|yes");
    assert_eq!(numbers["person"]["phone_numbers"][0]["do_not_call"], true);
    let unheard = mapping("Name|Unsubscribed|Phone", &[]).expect("a mapping");
    assert_eq!(unheard.row(&cells("Ada|yes|5550100199")).dropped.len(), 1);
    let others = mapping("Email|Unsubscribed from events|Shoe size", &[]).expect("a mapping");
    assert_eq!(others.unread_objections(), [1]);
}

#[test]
fn names_that_mean_something_else_elsewhere() {
    let (mapped, left) = members("Vorname|Name|E-Mail");
    assert_eq!(
        mapped,
        ["given_name", "family_name", "email_addresses[1].address"]
    );
    assert!(left.is_empty());
    assert_eq!(members("First|Last|Name|Email").1, ["Name"]);
    assert_eq!(members("Contact ID|Email").1, ["Contact ID"]);
    let codes = members("Zip5|Zip4|Email").0;
    assert_eq!(
        codes,
        [
            "postal_addresses[1].postal_code",
            "email_addresses[1].address"
        ]
    );
    let systems = members("VANID|Voter File VANID").0;
    assert_eq!(systems, ["identifiers[van]", "identifiers[van_voter_file]"]);
    let german = body(
        "Straße|Hausnummer|PLZ|Email|Land",
        "Am Hof|5a|10115|a@x.org|D",
    );
    assert_eq!(
        german["person"]["postal_addresses"],
        json!([{"address_lines": ["Am Hof 5a"], "postal_code": "10115", "country": "DE"}])
    );
    let american = body("Email|State|Zip|Country", "a@x.org|Massachusetts|2139|USA");
    assert_eq!(
        american["person"]["postal_addresses"],
        json!([{"region": "MA", "postal_code": "02139", "country": "US"}])
    );
}

#[test]
fn a_row_can_have_no_value_that_identifies() {
    let mapping = mapping("Name|Email", &[]).expect("a mapping");
    assert!(mapping.row(&cells("Ada|a@x.org")).identifies);
    assert!(!mapping.row(&cells("Ada|a@@x.org")).identifies);
}
