use proptest::prelude::*;

use super::*;
use crate::value::{
    email::{email_as_sent, is_usual, trimmed},
    proptest_config::{awkward, config},
};

/// The rows 1 to 26 of the table of forms, with addresses that have no form.
#[test]
fn und_46_forms_of_email_addresses() {
    for (form, addresses) in [
        (
            Some("ada@example.org"),
            &[
                " Ada@Example.ORG ",
                "ada@example.org.",
                "\"ada\"@example.org",
                "\"a\\da\"@example.org",
            ][..],
        ),
        (Some("a.d.a@gmail.com"), &["a.d.a@gmail.com"]),
        (Some("ada+news@example.org"), &["ada+news@example.org"]),
        (Some("ada@googlemail.com"), &["ada@googlemail.com"]),
        (
            Some("ada@xn--bcher-kva.example"),
            &[
                "ada@BÜCHER.example",
                "ada@bu\u{308}cher.example",
                "ada@bücher。example",
                "ada@XN--BCHER-KVA.example",
            ],
        ),
        (Some("ada@xn--strae-oqa.example"), &["ada@straße.example"]),
        (Some("ada@strasse.example"), &["ada@strasse.example"]),
        (
            Some("josé@example.org"),
            &["JOSÉ@example.org", "jose\u{301}@EXAMPLE.org"],
        ),
        (Some("jose@example.org"), &["jose@example.org"]),
        (None, &["\u{212a}elvin@example.org"]),
        (Some("ada@kelvin.example"), &["ada@\u{212a}elvin.example"]),
        (
            Some("\"ada lovelace\"@example.org"),
            &["\"Ada Lovelace\"@example.org"],
        ),
        (
            Some("\"a\\\"b@\\\\\"@example.org"),
            &["\"a\\\"b@\\\\\"@example.org"],
        ),
        (
            None,
            &[
                "ada lovelace@example.org",
                "a@b@example.org",
                "ada@",
                "@example.org",
                "ada",
                "",
                "Ada <ada@example.org>",
                "mailto:ada@example.org",
                "\"a\"b\"@example.org",
                "\"a\\\"@example.org",
                "ada@exa_mple.org",
                "ada@example..org",
                "ada\u{200b}@example.org",
                "ada\u{604}@example.org",
                "ada\u{7}@example.org",
                "ada@xn--zzzzzz.example",
                "ada@[a b]",
                "ada@[1",
            ],
        ),
        (Some("ada@[ipv6:2001:db8::1]"), &["ada@[IPv6:2001:DB8::1]"]),
        (Some("ada..l@example.org"), &["ada..l@example.org"]),
        (Some("ada@localhost"), &["ada@localhost"]),
        (Some("аda@example.org"), &["аda@example.org"]),
        (Some("用户@xn--fsqu00a.xn--4rr70v"), &["用户@例子.广告"]),
        (Some("ada@a--b.example"), &["ada@A--b.example"]),
    ] {
        for address in addresses {
            assert_eq!(email(address).as_deref(), form, "{address:?}");
            let found = form.map_or_else(|| email_as_sent(address), Into::into);
            assert_eq!(match_form(address), found, "{address:?}");
        }
    }
    let longest = format!("ada@{}.org", "a.".repeat(160));
    assert_eq!(email(&longest), None);
}

/// The rows 27 to 35.
#[test]
fn forms_of_phone_numbers() {
    for (form, numbers) in [
        (
            Some("441632960001"),
            &[
                ("+44 1632 960-001", "", ""),
                ("+44 (0)1632 960001", "", ""),
                ("4401632960001", "", ""),
                ("441632960001", "", "GB"),
                ("44\u{a0}1632\u{2011}960001", "", "gb"),
            ][..],
        ),
        (
            None,
            &[
                ("00441632960001", "", ""),
                ("01632960001", "", "GB"),
                ("2125550100", "", "US"),
                ("4900000000", "", ""),
                ("44001632960001", "", ""),
                ("1234567", "", ""),
                ("1234567890123456", "", ""),
                ("\u{664}\u{664}\u{661}\u{666}\u{663}\u{662}960001", "", ""),
                ("1-800-FLOWERS", "", ""),
                ("12125550100", "desk", ""),
                ("12125550100", "000", ""),
                ("", "", ""),
            ],
        ),
        (Some("390612345678"), &[("390612345678", "", "IT")]),
        (Some("39612345678"), &[("39612345678", "", "")]),
        (
            Some("12125550100;123"),
            &[("12125550100", "0123", "US"), ("12125550100", "12-3", "")],
        ),
        (Some("12125550100"), &[("12125550100", " ", "")]),
        (Some("5511987654321"), &[("5511987654321", "", "BR")]),
        (Some("551187654321"), &[("551187654321", "", "BR")]),
        (Some("353871234567"), &[("3530871234567", "", "IE")]),
    ] {
        for (number, extension, country) in numbers {
            let country = Some(*country).filter(|country| !country.is_empty());
            let found = phone(number, Some(extension), country);
            assert_eq!(
                found.as_deref(),
                form,
                "{number:?} {extension:?} {country:?}"
            );
        }
    }
}

/// The rows 36 to 53.
#[test]
fn forms_of_names() {
    for (form, names) in [
        (
            Some("ada lovelace"),
            &[
                ("ADA ", "lovelace"),
                ("Lovelace", "Ada"),
                ("Ada Mary", "Lovelace"),
                ("A\u{200b}d\u{ad}a", "Love\u{200b}lace"),
            ][..],
        ),
        (
            Some("garciamarquez jose"),
            &[("José", "García Márquez"), ("Jose", "Garcia-Marquez")],
        ),
        (
            Some("jo obrien"),
            &[("Jo", "O’Brien"), ("Jo", "O'Brien"), ("Jo", "OBrien")],
        ),
        (Some("jurgen muller"), &[("Jürgen", "Müller")]),
        (Some("juergen mueller"), &[("Juergen", "Mueller")]),
        (
            Some("soren weiss"),
            &[("Sören", "Weiß"), ("Sören", "WEISS")],
        ),
        (Some("lukasz wojcik"), &[("Łukasz", "Wójcik")]),
        (
            None,
            &[
                ("A.", "Lovelace"),
                ("Ada", ""),
                ("", "Lovelace"),
                ("Ada", "\u{301}"),
            ],
        ),
        (Some("иванова юлия"), &[("Юлия", "Иванова")]),
        (Some("ivanova yulia"), &[("Yulia", "Ivanova")]),
        (
            Some("νικοσ παππασ"),
            &[("ΝΙΚΟΣ", "ΠΑΠΠΑΣ"), ("Νίκος", "Παππάς")],
        ),
        (Some("小龙 李"), &[("李", "小龙"), ("小龙", "李")]),
        (Some("ada アダ"), &[("Ada", "ｱﾀﾞ"), ("Ada", "アダ")]),
        (Some("ada かさ"), &[("Ada", "かさ")]),
        (Some("ada がさ"), &[("Ada", "がさ")]),
        (Some("bob lee"), &[("Bob", "Lee")]),
        (Some("lee robert"), &[("Robert", "Lee")]),
        (Some("annemarie lee"), &[("AnneMarie", "Lee")]),
        (Some("anne lee"), &[("Anne-Marie", "Lee")]),
        (Some("istanbullu yilmaz"), &[("İstanbullu", "Yılmaz")]),
        (Some("aethelred thor"), &[("Þór", "Æthelred")]),
    ] {
        for (given, family) in names {
            assert_eq!(name(given, family).as_deref(), form, "{given:?} {family:?}");
        }
    }
}

/// The rows 54 to 60.
#[test]
fn forms_of_postal_addresses_days_and_profiles() {
    for (form, code, country) in [
        (Some("10115"), "D-10115", "DE"),
        (Some("10115"), "10115", "DE"),
        (Some("10115"), "de 10115", "de"),
        (Some("D10115"), "D-10115", ""),
        (Some("SW1A1AA"), "sw1a 1aa", "GB"),
        (Some("12345"), "12345-6789", "US"),
        (None, "1234", "US"),
        (Some("1000001"), "１００−０００１", "JP"),
        (Some("1234AB"), "NL-1234 ab", "NL"),
        (None, "00000", ""),
        (None, "99999", "US"),
        (None, "n/a", ""),
        (None, "AB", ""),
        (None, "A1", ""),
    ] {
        let country = Some(country).filter(|country| !country.is_empty());
        assert_eq!(postal_code(code, country).as_deref(), form, "{code}");
    }
    for (form, lines) in [
        (Some("12 main st"), &["12 Main St."][..]),
        (Some("12 main st"), &["12  MAIN ST"]),
        (Some("12 main st apt 4"), &["12 Main St.", "", "Apt. 4"]),
        (Some("flat 1 2"), &["Flat 1.2"]),
        (Some("flat 1 2"), &["Flat 1/2"]),
        (Some("flat 12"), &["Flat 12."]),
        (None, &["", " . "]),
        (None, &[]),
    ] {
        assert_eq!(address_lines(lines.iter().copied()).as_deref(), form);
    }
    for (form, (year, month, day)) in [
        (Some("2024-02-29"), (2024, 2, 29)),
        (None, (2023, 2, 29)),
        (None, (1900, 1, 1)),
        (None, (1901, 1, 1)),
        (None, (1970, 1, 1)),
        (None, (2000, 1, 1)),
        (Some("2000-01-02"), (2000, 1, 2)),
        (None, (-1, 1, 300)),
    ] {
        assert_eq!(birthdate(year, month, day).as_deref(), form);
    }
    for (form, provider, id, handle) in [
        (Some("example 17"), "Example", Some("17"), Some("ada")),
        (Some("example @ada"), " example ", None, Some("@Ada")),
        (Some("example @ada"), "EXAMPLE", Some(" "), Some("ADA ")),
        (None, "Example", None, Some("@")),
        (None, "Example", None, None),
        (None, "", Some("17"), None),
    ] {
        assert_eq!(profile(provider, id, handle).as_deref(), form);
    }
}

fn lower_words() -> impl Strategy<Value = String> {
    let letters: Vec<char> =
        "aAéÉe\u{301}\u{308} -'’.,/ßẞςΣİıøŁæþËёйЙかが\u{3099}ｶﾞ\u{200b}\u{ad}\u{b4}\u{2011}ﬁ漢ᾳ\u{345}Ά1２"
            .chars()
            .collect();
    prop::collection::vec(prop::sample::select(letters), 0..10)
        .prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..config() })]

    /// The form of a form is itself, and no earlier form is split: addresses that earlier versions compared
    /// as one have one form.
    #[test]
    fn und_46_laws_of_the_forms_of_addresses(name in awkward(), domain in awkward()) {
        let address = format!("{name}@{domain}");
        let form = email(&address);
        prop_assert_eq!(email(&address.trim().to_ascii_lowercase()), form.clone());
        if let Some(form) = form {
            prop_assert_eq!(email(&form), Some(form.clone()));
            // No letter outside of ASCII becomes one of ASCII in a name.
            let is_ascii = |text: &str| text.rsplit_once('@').map(|(name, _)| name.is_ascii());
            prop_assert_eq!(is_ascii(&form), is_ascii(trimmed(&address)), "{:?}", address);
        }
        let found = match_form(&address);
        prop_assert_eq!(match_form(&found), found.clone());
        let lower = address.trim().to_ascii_lowercase();
        prop_assert_eq!(match_form(&lower), found.clone());
    }

    /// The fast function for usual addresses returns the same form.
    #[test]
    fn a_usual_address_has_the_same_form(address in "[a-zA-Z0-9.+_'-]{1,6}@[a-zA-Z0-9.-]{1,12}") {
        if is_usual(&address) {
            prop_assert_eq!(email(&address), email::checked(&address).map(Into::into));
        }
    }

    #[test]
    fn the_form_of_a_form_is_itself(given in lower_words(), family in lower_words(), digits in "[0-9() +-]{0,17}", code in "[A-Z]{0,3}[0-9 -]{0,8}") {
        if let Some(form) = name(&given, &family) {
            let (one, other) = form.split_once(' ').unwrap();
            prop_assert_eq!(name(one, other), Some(form.clone()));
        }
        if let Some(form) = address_lines([&*given, &*family]) {
            prop_assert_eq!(address_lines([&*form]), Some(form.clone()));
        }
        for country in [None, Some("GB"), Some("DE"), Some("US")] {
            if let Some(form) = phone(&digits, None, country) {
                prop_assert_eq!(phone(&form, None, country), Some(form.clone()));
            }
            if let Some(form) = postal_code(&code, country) {
                prop_assert_eq!(postal_code(&form, country), Some(form.clone()));
            }
        }
    }
}
