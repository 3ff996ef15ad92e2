//! Ten files that `LibreOffice` 7.4 has saved from one sheet, in its formats and encodings.

use std::fs;

use serde_json::{Value, json};
use svc_import::{ColumnMapping, MappingOptions, Overview, PlannedRow, RowPlan, Synonyms, Table};

/// Returns the requests of a file.
fn requests(path: &std::path::Path) -> Vec<Value> {
    let table = Table::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let synonyms = Synonyms::built_in().expect("the names of columns");
    let mapping = ColumnMapping::new(table.head(), &synonyms, &MappingOptions::default());
    let mut mapping = mapping.expect("a mapping");
    Overview::read(&table, &mut mapping).expect("rows");
    let plan = RowPlan::new(mapping);
    let rows = table.rows().expect("rows");
    let requests = rows.map(|row| match plan.row(&row.expect("a row").content) {
        PlannedRow::Sent { body, left_out } => {
            assert_eq!(left_out, "", "{}", path.display());
            body
        }
        PlannedRow::Empty => Value::Null,
        PlannedRow::Rejected(reason) => panic!("{}: {reason}", path.display()),
    });
    requests.collect()
}

/// Requirements: BAT-08.
#[test]
fn ten_files_of_libreoffice_are_equal() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/libreoffice");
    let files = fs::read_dir(folder).expect("the folder");
    let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    assert_eq!(files.len(), 10);
    let expected = requests(&files[0]);
    assert_eq!(expected.len(), 5);
    let first = json!({"person": {
        "given_name": "José",
        "family_name": "Müller",
        "email_addresses": [{"address": "jose@example.org", "status": "subscribed"}],
        "phone_numbers": [{"number": "+49 30 1234567"}],
        "birthdate": {"year": 1990, "month": 5, "day": 31},
        // The spreadsheet program has removed a zero.
        "postal_addresses": [{
            "address_lines": ["Am Hof 5, Hinterhaus"],
            "postal_code": "01067",
            "locality": "Dresden",
            "country": "DE",
        }],
    }});
    assert_eq!(expected[0], first);
    assert_eq!(expected[3], Value::Null, "the row without values");
    for file in &files {
        assert_eq!(requests(file), expected, "{}", file.display());
    }
}
