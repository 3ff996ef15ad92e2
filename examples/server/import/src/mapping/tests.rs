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

fn action_mapping(
    head: &str,
    kind: &str,
    pairs: &[(&str, &str)],
) -> Result<ColumnMapping, MappingError> {
    let synonyms = Synonyms::built_in().expect("synonyms");
    let own = |(member, column): &(&str, &str)| ((*member).to_owned(), (*column).to_owned());
    let options = MappingOptions {
        pairs: pairs.iter().map(own).collect(),
        action: ActionKind::from_name(kind),
        ..MappingOptions::default()
    };
    ColumnMapping::new(&cells(head), &synonyms, &options)
}

fn action_members(head: &str, kind: &str) -> Vec<String> {
    let mapping = action_mapping(head, kind, &[]).expect("a mapping");
    let mapped = mapping.columns().iter();
    mapped.map(|one| one.member.to_string()).collect()
}

#[test]
fn heads_of_actions_count_only_for_their_kind() {
    let actblue = "Receipt ID|Date|Amount|Recurrence Number|Recipient|Reference Code|Donor First Name|Donor Last Name|Donor Addr1|Donor City|Donor State|Donor ZIP|Donor Country|Donor Employer|Donor Email|Donor Phone|Check Number|Refund Date";
    let expected = [
        "donation.identifiers[actblue]",
        "donation.action_date",
        "donation.amount",
        "donation.subscription_instance",
        "donation.recipients[1].display_name",
        "donation.referrer_data.source",
        "given_name",
        "family_name",
        "postal_addresses[1].address_lines[1]",
        "postal_addresses[1].locality",
        "postal_addresses[1].region",
        "postal_addresses[1].postal_code",
        "postal_addresses[1].country",
        "employer",
        "email_addresses[1].address",
        "phone_numbers[1].number",
        "donation.payment.reference_number",
        "donation.voided_date",
    ];
    assert_eq!(action_members(actblue, "donations"), expected);
    // The identifier of one line of a receipt precedes that of the receipt.
    assert_eq!(
        action_members("Receipt ID|Lineitem ID|Amount|Email", "donations"),
        [
            "donation.payment.reference_number",
            "donation.identifiers[actblue]",
            "donation.amount",
            "email_addresses[1].address",
        ]
    );
    let nationbuilder = "nationbuilder_donation_id|email|amount|amount_in_cents|created_at|succeeded_at|failed_at|canceled_at|payment_type_name|tracking_code_slug";
    assert_eq!(
        action_members(nationbuilder, "donations"),
        [
            "donation.identifiers[nationbuilder]",
            "email_addresses[1].address",
            "donation.amount",
            "donation.action_date",
            "donation.voided_date",
            "donation.voided_date",
            "donation.payment.method",
            "donation.referrer_data.source",
        ]
    );
    let head = "E-Mail|Datum|Kommentar|Tags";
    assert_eq!(
        action_members(head, "signatures"),
        [
            "email_addresses[1].address",
            "signature.action_date",
            "signature.comments",
            "tags",
        ]
    );
    assert_eq!(
        action_members("Email|RSVP|Comment|Attended", "attendances"),
        [
            "email_addresses[1].address",
            "attendance.status",
            "attendance.comment",
            "attendance.attended",
        ]
    );
    // Names and fields of another kind, or of none, are left out.
    assert_eq!(members(head).1, ["Datum", "Kommentar"]);
    assert_eq!(members("Email|donation.amount").1, ["donation.amount"]);
    // Fields of the action, as the API names them.
    assert_eq!(
        action_members("Email|payment.method|donation.amount|url", "donations"),
        [
            "email_addresses[1].address",
            "donation.payment.method",
            "donation.amount",
            "donation.url",
        ]
    );
}

#[test]
fn a_row_becomes_a_donation() {
    let head = "First name|Email|Date|Amount|Receipt ID|Recipient|Payment method|Tags";
    let mut mapping = action_mapping(head, "donations", &[]).expect("a mapping");
    mapping.learn(&cells("||5/31/2024||||"));
    let row = mapping.row(&cells(
        "Ada|ada@x.org|3/4/2024 2:03 PM|$1,234.50|AB1|The Engine|cash|donor",
    ));
    let expected = json!({
        "action_date": "2024-03-04T14:03:00Z",
        "amount": 1234.5,
        "currency": "USD",
        "identifiers": ["actblue:AB1"],
        "payment": {"method": "Cash"},
        "recipients": [{"display_name": "The Engine"}],
        "person": {"given_name": "Ada", "email_addresses": [{"address": "ada@x.org"}]},
        "add_tags": ["donor"],
    });
    assert_eq!(row.body, expected);
    assert!(row.identifies && row.dropped.is_empty() && row.rejected.is_empty());
}

#[test]
fn currencies_of_amounts() {
    let mapping = action_mapping("Email|Amount|Currency", "donations", &[]).expect("a mapping");
    let read = |row: &str| {
        let row = mapping.row(&cells(row));
        let reasons = row.rejected.iter().map(|cell| cell.reason.clone());
        let reasons: Vec<String> = reasons.collect();
        (row.body["currency"].clone(), reasons.join(" "))
    };
    for (row, currency) in [
        ("a@x.org|12 €|", json!("EUR")),
        ("a@x.org|12|eur", json!("EUR")),
        ("a@x.org|$12|CAD", json!("CAD")),
        ("a@x.org|12|", Value::Null),
        ("a@x.org|1500 ¥|", json!("JPY")),
    ] {
        assert_eq!(read(row), (currency, String::new()), "{row}");
    }
    for (row, why) in [
        ("a@x.org|12 €|USD", "is not in the currency of the row, USD"),
        (
            "a@x.org|12.50|JPY",
            "has more digits after the decimal mark than JPY has",
        ),
        ("a@x.org||EUR", "is empty"),
    ] {
        assert_eq!(read(row).1, why, "{row}");
    }
    let tickets = action_mapping(
        "Email|attendance.tickets[1].amount|attendance.tickets[1].title",
        "attendances",
        &[],
    );
    let row = tickets.expect("a mapping").row(&cells("a@x.org|5 €|Front"));
    assert_eq!(
        row.body["tickets"],
        json!([{"amount": 5, "currency": "EUR", "title": "Front"}])
    );
}

/// An action never differs from its row: an amount or an answer that cannot be read rejects the row. Any
/// other value costs its cell.
#[test]
fn what_an_action_cannot_say_rejects_its_row() {
    let reasons = |kind: &str, head: &str, row: &str| {
        let mapping = action_mapping(head, kind, &[]).expect("a mapping");
        let row = mapping.row(&cells(row));
        let columns = |cells: Vec<DroppedCell>| cells.iter().map(|cell| cell.column).collect();
        let (dropped, rejected): (Vec<usize>, Vec<usize>) =
            (columns(row.dropped), columns(row.rejected));
        (dropped, rejected)
    };
    let donation = "Email|Amount|Date|Currency";
    for (row, expected) in [
        ("a@x.org|12|2024-05-31|EUR", (vec![], vec![])),
        ("a@x.org|12|yesterday|gold", (vec![], vec![2, 3])),
        ("a@x.org|twelve|2024-05-31|EUR", (vec![], vec![1])),
        ("a@x.org|1,234|2024-05-31|EUR", (vec![], vec![1])),
        ("a@x.org|-12|2024-05-31|EUR", (vec![], vec![1])),
        ("a@x.org||2024-05-31|EUR", (vec![], vec![1])),
    ] {
        assert_eq!(reasons("donations", donation, row), expected, "{row}");
    }
    for (row, expected) in [
        ("a@x.org|Yes", (vec![], vec![])),
        ("a@x.org|perhaps", (vec![], vec![1])),
        ("a@x.org|unknown", (vec![], vec![1])),
        ("a@x.org|", (vec![], vec![1])),
    ] {
        assert_eq!(reasons("attendances", "Email|RSVP", row), expected, "{row}");
    }
    let without = reasons("attendances", "Email|Name", "a@x.org|Ada");
    assert_eq!(without.1, Vec::<usize>::new());
}

#[test]
fn members_of_actions_need_their_kind() {
    let said = |kind: &str, head: &str, pairs: &[(&str, &str)]| {
        let error = action_mapping(head, kind, pairs).expect_err("no mapping");
        error.to_string()
    };
    assert_eq!(
        said("people", "a|b", &[("email", "a"), ("donation.amount", "b")]),
        "`donation.amount` can be set only if donations are imported"
    );
    assert_eq!(
        said("donations", "Email|b", &[]),
        "no column sets `donation.amount`: A (Email), B (b)"
    );
    let mapping = action_mapping("Email|b", "donations", &[("amount", "b")]);
    assert_eq!(mapping.expect("a mapping").columns().len(), 2);
    let own = Synonyms::with_file("\"*.action_date\" = [\"Wann\"]").expect("synonyms");
    let options = MappingOptions {
        action: ActionKind::from_name("submission"),
        ..MappingOptions::default()
    };
    let mapping = ColumnMapping::new(&cells("Email|Wann"), &own, &options).expect("a mapping");
    assert_eq!(
        mapping.columns()[1].member.to_string(),
        "submission.action_date"
    );
    assert!(Synonyms::with_file("\"*.given_name\" = []").is_err());
}

#[test]
fn the_decimal_mark_of_a_column() {
    let mut mapping = action_mapping("Email|Amount", "donations", &[]).expect("a mapping");
    assert_eq!(mapping.row(&cells("a@x.org|1,234")).rejected.len(), 1);
    mapping.learn(&cells("b@x.org|12.50"));
    assert_eq!(mapping.row(&cells("a@x.org|1,234")).body["amount"], 1234);
    let options = MappingOptions {
        action: ActionKind::from_name("donations"),
        decimal_mark: DecimalMark::Comma,
        ..MappingOptions::default()
    };
    let synonyms = Synonyms::built_in().expect("synonyms");
    let mapping = ColumnMapping::new(&cells("Email|Amount"), &synonyms, &options);
    let row = mapping.expect("a mapping").row(&cells("a@x.org|1,234"));
    assert_eq!(row.body["amount"], json!(1.234));
}

/// A table with the columns of an export is read as it was written.
#[test]
fn exported_columns_are_read_unchanged() {
    let head = "id|given_name|employer_address.address_lines[1]|employer_address.address_lines[2]|employer_address.location.latitude|postal_addresses[1].region|postal_addresses[1].location.accuracy|phone_numbers[1].number|phone_numbers[1].number_type|parties[1].identification|parties[1].last_verified_date|birthdate|birthdate.year|custom_fields.=x|tags|created_date";
    let row = "p1|'=1+1|1 Main St|Unit 2|-0.25|BY|Rooftop|493012345678|mobile|D|2026-01-05T09:00:00Z||1990|'-5|'-a, \"b, \"\"c\"\"\"|2026-01-05T09:00:00Z";
    let expected = json!({
        "person": {
            "given_name": "=1+1",
            "employer_address": {"address_lines": ["1 Main St", "Unit 2"], "location": {"latitude": -0.25}},
            "postal_addresses": [{"region": "BY", "location": {"accuracy": "Rooftop"}}],
            "phone_numbers": [{"number": "493012345678", "number_type": "mobile"}],
            "parties": [{"identification": "D", "last_verified_date": "2026-01-05T09:00:00Z"}],
            "birthdate": {"year": 1990},
            "custom_fields": {"=x": "-5"},
        },
        "add_tags": ["-a", "b, \"c\""],
    });
    assert_eq!(body(head, row), expected);
    let mapping = mapping(head, &[]).expect("a mapping");
    assert_eq!(mapping.left_out(), [0_usize; 0]);
    assert_eq!(mapping.ignored(), [0, 15]);
    // Words are read in other tables.
    let other = body("given_name|party_identification", "'=1+1|D");
    assert_eq!(other["person"]["party_identification"], "Democratic");
    assert_eq!(other["person"]["given_name"], "=1+1");
}
