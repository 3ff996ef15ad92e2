//! Tests of the strict reader with the texts that UND-27 names, and with arbitrary texts.

use proptest::prelude::*;

use super::{Json, JsonLimits, Number, Object, write_string};
use crate::error::{ErrorCode, Problem};

/// Creates any tree that the default limits of the reader allow.
pub(crate) fn any_json() -> impl Strategy<Value = Json> {
    let number = prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", Number::from_f64),
        "-?(0|[1-9][0-9]{0,30})\\.[0-9]{1,20}([eE][-+]?[0-9]{1,2})?"
            .prop_map(|text| Number::parse(&text).unwrap()),
    ];
    let text = || any::<String>().prop_map(|text| text.replace('\0', ""));
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        number.prop_map(Json::Number),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Json::Array),
            proptest::collection::vec((text(), inner), 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Creates an object of [`any_json`] values.
pub(crate) fn any_object() -> impl Strategy<Value = Object> {
    proptest::collection::vec(("[a-d]{1}", any_json()), 0..6)
        .prop_map(|members| members.into_iter().collect())
}

fn read(text: impl AsRef<[u8]>) -> Result<Json, Vec<Problem>> {
    Json::read(text.as_ref(), &JsonLimits::default())
}

/// Returns the codes and paths of all problems.
fn problems(text: impl AsRef<[u8]>) -> Vec<(ErrorCode, String)> {
    let problems = read(text).unwrap_err();
    problems
        .into_iter()
        .map(|problem| {
            (
                problem.code,
                problem
                    .properties
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("|"),
            )
        })
        .collect()
}

fn invalid(path: &str) -> (ErrorCode, String) {
    (ErrorCode::JsonInvalid, path.to_owned())
}

fn duplicate(path: &str) -> (ErrorCode, String) {
    (ErrorCode::DuplicateKey, path.to_owned())
}

#[test]
fn typ_01_to_12_values_are_read() {
    let text =
        br#" { "a" : [ null , true , false , -0 , 1.50 , 1E2 , "x\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00" ] , "" : { } } "#;
    let value = read(text).unwrap();
    let expected = r#"{"a":[null,true,false,-0,1.50,1E2,"x\"\\/\b\f\n\r\té😀"],"":{}}"#;
    assert_eq!(value.to_string(), expected, "TYP-01 to TYP-12");
    for scalar in [
        "null",
        "true",
        "false",
        "0",
        "\"\"",
        "[]",
        "{}",
        "9007199254740993.01",
        "18446744073709551615",
    ] {
        assert_eq!(
            read(scalar).unwrap().to_string(),
            scalar,
            "TYP-04: digit for digit"
        );
    }
}

#[test]
fn und_27_duplicate_keys_are_all_named() {
    let text =
        r#"{"a":1,"b":{"c":1,"\u0063":2},"people":[{"x":1},{"x":1,"x":2}],"a":{"d":1,"d":2}}"#;
    let expected = ["b.c", "people[1].x", "a", "a.d"].map(duplicate);
    assert_eq!(
        problems(text),
        expected,
        "UND-27: keys are compared after unescaping"
    );
    let many: Vec<String> = (0..40)
        .chain([39, 3])
        .map(|n| format!("\"k{n}\":0"))
        .collect();
    let text = format!("{{{}}}", many.join(","));
    assert_eq!(
        problems(text),
        ["k39", "k3"].map(duplicate),
        "UND-27: also in large objects"
    );
}

#[test]
fn und_27_characters_that_are_refused() {
    for (text, path) in [
        (&b"{\"a\":\"x\\u0000y\"}"[..], "a"),
        (b"{\"a\":\"x\0y\"}", "a"),
        (b"{\"a\":[\"x\ny\"]}", "a[0]"),
        (b"{\"a\":\"\\uD800\"}", "a"),
        (b"{\"a\":\"\\uDC00\\uD800\"}", "a"),
        (b"{\"a\":\"\\uD800\\u0041\"}", "a"),
        (b"{\"a\":\"\xFF\"}", "a"),
        (b"{\"a\":\"\xED\xA0\x80\"}", "a"),
        (b"{\"b\":{\"a\\u0000\":1}}", "b.a\\u0000"),
        (b"\"\\u0000\"", ""),
    ] {
        assert_eq!(problems(text), [invalid(path)], "UND-27: {text:?}");
    }
    for control in 0..0x20_u8 {
        assert_eq!(
            problems([b'"', control, b'"']),
            [invalid("")],
            "UND-27: {control}"
        );
    }
    let text = r#"{"a":"\u0000","b":"\uD800","c":1,"c":2,"d":99999999999999999999}"#;
    let expected = [invalid("a"), invalid("b"), duplicate("c"), invalid("d")];
    assert_eq!(problems(text), expected, "UND-27: all are collected");
}

#[test]
fn und_27_numbers_that_are_refused() {
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "1e400",
        "-1.0e309",
        &format!("0.{}", "1".repeat(400)),
    ] {
        assert_eq!(
            problems(format!("[{number}]")),
            [invalid("[0]")],
            "UND-27: {number}"
        );
    }
    for number in [
        "9223372036854775807",
        "-9223372036854775808",
        "1e308",
        "1e-400",
        "0e999",
        "123456789012345678901234.5",
    ] {
        assert_eq!(read(number).unwrap().to_string(), number, "UND-27");
    }
}

#[test]
fn und_27_errors_of_syntax_end_the_reading() {
    let texts = [
        "",
        " ",
        "{",
        "[",
        "\"",
        "\"\\",
        "\"\\u00",
        "\"\\x\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "nul",
        "True",
        "NaN",
        "-",
        "01",
        "+1",
        "1.",
        ".5",
        "1e",
        "0x10",
        "1-2",
        "{}{}",
        "1 2",
        "null,",
        "]",
        "}",
        "// c\n1",
        "\u{feff}1",
        "\u{a0}1",
        "\0",
        "1\0",
        "\"\\u12G4\"",
        "\"\\u+123\"",
        "'a'",
    ];
    for text in texts {
        let problems = read(text).unwrap_err();
        assert_eq!(problems.len(), 1, "UND-27: {text:?}");
        assert!(
            problems
                .iter()
                .all(|problem| problem.code == ErrorCode::JsonInvalid),
            "UND-27: {text:?}"
        );
    }
    assert_eq!(
        problems(r#"{"a":"\u0000","b":[{"c":x}],"d":"\u0000"}"#),
        [invalid("a"), invalid("b[0].c")],
        "UND-27"
    );
}

#[test]
fn err_25_the_description_names_the_byte_and_repeats_nothing() {
    let problems = read(r#"{"a":{"b":"secret\u0000"},"c":secret}"#).unwrap_err();
    let found: Vec<String> = problems.iter().map(Problem::description).collect();
    assert_eq!(
        found,
        [
            "The string contains a NUL character (byte 17).",
            "This is not a JSON value (byte 30)."
        ],
        "ERR-25"
    );
}

#[test]
fn err_26_long_and_odd_keys_stay_readable() {
    let long = "é".repeat(200);
    let text = format!(r#"{{"{long}":x}}"#);
    assert_eq!(
        problems(text),
        [invalid(&format!("{}…", "é".repeat(64)))],
        "ERR-26"
    );
    assert_eq!(
        problems(r#"{"a\n\u007f":{"":x}}"#),
        [invalid("a\\u000a\\u007f.\"\"")],
        "ERR-26"
    );
}

#[test]
fn und_27_limits() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nested(64)).is_ok(), "UND-27");
    assert_eq!(problems(nested(65)), [invalid(&"[0]".repeat(64))], "UND-27");
    assert_eq!(problems("[".repeat(1_000_000)).len(), 1, "UND-27");
    let limits = JsonLimits {
        depth: usize::MAX,
        ..JsonLimits::default()
    };
    assert!(
        Json::read(nested(128).as_bytes(), &limits).is_ok(),
        "UND-27"
    );
    assert!(
        Json::read(nested(1_000_000).as_bytes(), &limits).is_err(),
        "UND-27: the stack does not overflow with any limit"
    );

    let object = |keys: usize| {
        format!(
            "{{{}}}",
            (0..keys)
                .map(|n| format!("\"{n}\":0"))
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    assert!(read(object(1000)).is_ok(), "UND-17");
    assert_eq!(
        problems(format!("{{\"a\":{}}}", object(1001))),
        [invalid("a")],
        "UND-17"
    );

    let array = |values: usize| format!("[{}]", vec!["0"; values].join(","));
    assert!(read(array(99_999)).is_ok(), "UND-17");
    assert_eq!(problems(array(100_000)), [invalid("[99999]")], "UND-17");

    let many = format!("[{}]", vec!["\"\\u0000\""; 5000].join(","));
    assert_eq!(
        problems(many).len(),
        100,
        "ERR-26: a response lists at most 100 problems"
    );
}

#[test]
fn und_17_each_hostile_megabyte_is_read_in_one_pass() {
    // A reader that reads parts of the text repeatedly would take hours here.
    let limits = JsonLimits {
        depth: 64,
        keys: usize::MAX,
        values: usize::MAX,
        number_digits: usize::MAX,
    };
    let size = 1 << 20;
    let filled = |start: &str, part: &str, end: &str| {
        format!("{start}{}{end}", part.repeat(size / part.len()))
    };
    let distinct: Vec<String> = (0..size / 10).map(|n| format!("\"{n:06}\":0")).collect();
    let wide = "x".repeat(1000);
    let alike: Vec<String> = (0..1000).map(|n| format!("\"{wide}{n}\":0")).collect();
    for (text, good) in [
        (filled("", "[", ""), false),
        (filled("", "{\"a\":", ""), false),
        (filled("[0", ",0", "]"), true),
        (filled("[[]", ",[{}]", "]"), true),
        (filled("", " ", "0"), true),
        (filled("\"", "\\ud83d", "\""), false),
        (filled("\"", "\\ud83d\\ude00", "\""), true),
        (filled("\"", "\\n", "\""), true),
        (filled("\"", "\\", ""), false),
        (filled("\"", "é\\t", "\""), true),
        (filled("1.", "1", ""), true),
        (filled("1", "0", ""), false),
        (filled("1e", "1", ""), false),
        (filled("-", "-", ""), false),
        (filled("{\"a\":0", ",\"a\":0", "}"), false),
        (filled("a=b", "&a=b", ""), false),
        (format!("{{{}}}", distinct.join(",")), true),
        (format!("{{{}}}", alike.join(",")), true),
    ] {
        let read = Json::read(text.as_bytes(), &limits);
        assert_eq!(
            read.is_ok(),
            good,
            "UND-17: {}",
            text.chars().take(20).collect::<String>()
        );
        if let Ok(value) = read {
            assert_eq!(
                Json::read(&value.to_vec(), &limits).as_ref(),
                Ok(&value),
                "UND-17"
            );
        }
    }
}

#[test]
fn und_27_a_form_is_recognised() {
    for text in [
        "given_name=Ana&family_name=Kos",
        "a=",
        "person[given_name]=Ana",
        "1=2",
        "true=1",
        "{0}",
        "%7B%22a%22%3A1%7D",
        "a%20b=c",
    ] {
        let problems = read(text).unwrap_err();
        let form = problems
            .iter()
            .any(|problem| problem.hint.is_some() && problem.description().contains("encoded"));
        assert_eq!(form, text != "{0}", "UND-27: {text}");
        assert!(
            !problems
                .iter()
                .any(|problem| problem.description().contains("Ana")),
            "UND-27"
        );
    }
}

#[test]
fn typ_01_strings_are_written_with_all_escapes() {
    let mut out = Vec::new();
    write_string(
        "\u{0}\u{1f}\"\\\n\r\t\u{8}\u{c}/\u{7f}é😀\u{2028}",
        &mut out,
    );
    let expected = "\"\\u0000\\u001f\\\"\\\\\\n\\r\\t\\b\\f/\u{7f}é😀\u{2028}\"";
    assert_eq!(String::from_utf8(out).unwrap(), expected, "TYP-01");
}

#[test]
fn typ_11_objects_keep_their_order() {
    let mut object: Object = [("b", 1), ("a", 2), ("b", 3)].into_iter().collect();
    assert_eq!(
        Json::from(object.clone()).to_string(),
        r#"{"b":3,"a":2}"#,
        "TYP-11"
    );
    assert_eq!(object.insert("c", "x"), None, "TYP-11");
    assert_eq!(
        object.insert("b", Json::Null),
        Some(Json::from(3)),
        "TYP-11"
    );
    assert_eq!(object.remove("a"), Some(Json::from(2)), "TYP-11");
    assert_eq!(object.remove("a"), None, "TYP-11");
    let mut members = Vec::new();
    object.write_members(&mut members);
    assert_eq!(members, br#""b":null,"c":"x""#, "TYP-11");
    assert!(
        object.contains("b") && !object.contains("a") && object.len() == 2 && !object.is_empty(),
        "TYP-11"
    );
}

proptest! {
    #![proptest_config(crate::value::proptest_config::config())]

    #[test]
    fn typ_11_what_is_written_reads_back(value in any_json()) {
        prop_assert_eq!(read(value.to_vec()).unwrap(), value, "TYP-01 to TYP-12");
    }

    #[test]
    fn typ_01_other_readers_read_the_same(value in any_json()) {
        let ours = read(value.to_vec()).unwrap();
        let theirs: serde_json::Value = serde_json::from_slice(&value.to_vec()).unwrap();
        prop_assert!(same(&ours, &theirs), "TYP-01 to TYP-12");
    }

    #[test]
    fn typ_01_written_strings_are_those_of_other_writers(text in any::<String>()) {
        let mut out = Vec::new();
        write_string(&text, &mut out);
        prop_assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap(), "TYP-01");
    }

    #[test]
    fn und_27_any_bytes_are_safe(bytes in any::<Vec<u8>>()) {
        let _ = read(bytes);
    }

    #[test]
    fn und_27_what_looks_like_json_is_read_as_others_do(text in "[\\[\\]{}:,\"\\\\u0dD8a1.eE\\- \u{e9}tnrulfase]{0,30}") {
        match read(&text) {
            Ok(value) => {
                let theirs = serde_json::from_str::<serde_json::Value>(&text);
                prop_assert!(theirs.is_ok_and(|theirs| same(&value, &theirs)), "UND-27");
                prop_assert_eq!(read(value.to_vec()).unwrap(), value, "UND-27");
            }
            Err(problems) => {
                prop_assert!((1..=100).contains(&problems.len()), "UND-27");
                let refused_besides = problems.iter().all(|problem| {
                    let words = ["already", "NUL", "64 bits"];
                    words.iter().any(|word| problem.description().contains(word))
                });
                let theirs = serde_json::from_str::<serde_json::Value>(&text);
                prop_assert!(theirs.is_err() || refused_besides, "UND-27: {problems:?}");
            }
        }
    }

    #[test]
    fn und_27_damaged_texts_are_safe(value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = value.to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(value) = read(&bytes) {
            prop_assert_eq!(read(value.to_vec()).unwrap(), value, "UND-27");
        }
        bytes.truncate(at);
        let _ = read(&bytes);
    }

    #[test]
    fn err_12_each_fault_has_its_problem(faults in proptest::collection::vec(0..5_usize, 1..60)) {
        let wrong = ["\"\\u0000\"", "\"\\uDEAD\"", "99999999999999999999", "{\"x\":1,\"x\":2}", "1e999"];
        let items: Vec<&str> = faults.iter().map(|fault| wrong[*fault]).collect();
        let expected: Vec<_> = faults.iter().enumerate().map(|(position, fault)| match fault {
            3 => duplicate(&format!("a[{position}].x")),
            _ => invalid(&format!("a[{position}]")),
        }).collect();
        prop_assert_eq!(problems(format!("{{\"a\":[{}]}}", items.join(","))), expected, "ERR-12, ERR-26");
    }
}

/// Returns whether both readers returned the same value.
fn same(ours: &Json, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Json::Null, serde_json::Value::Null) => true,
        (Json::Bool(ours), serde_json::Value::Bool(theirs)) => ours == theirs,
        (Json::String(ours), serde_json::Value::String(theirs)) => ours == theirs,
        (Json::Number(ours), serde_json::Value::Number(theirs)) => {
            match (ours.as_i64(), theirs.as_i64()) {
                (Some(ours), Some(theirs)) => ours == theirs,
                _ => ours
                    .as_f64()
                    .zip(theirs.as_f64())
                    .is_some_and(|(a, b)| (a - b).abs() <= a.abs() * 1e-9),
            }
        }
        (Json::Array(ours), serde_json::Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Json::Object(ours), serde_json::Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .all(|(key, a)| theirs.get(key).is_some_and(|b| same(a, b)))
        }
        _ => false,
    }
}
