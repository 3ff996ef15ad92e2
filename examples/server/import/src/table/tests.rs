use std::io::Write as _;

use encoding_rs::{MACINTOSH, WINDOWS_1252};
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

fn table(bytes: &[u8]) -> Result<Table, TableError> {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("a file");
    file.seek(SeekFrom::Start(0)).expect("a file");
    Table::read(file)
}

/// Returns the number and the cells of each row with values.
fn cells(table: &Table) -> Vec<(u64, Vec<String>)> {
    let rows = table.rows().expect("rows");
    let cells = rows.filter_map(|row| match row.expect("a row") {
        Row {
            number,
            content: RowContent::Cells(cells),
        } => Some((number, cells)),
        Row {
            content: RowContent::Empty,
            ..
        } => None,
        row @ Row { .. } => panic!("{row:?}"),
    });
    cells.collect()
}

const TEXT: &str = "\r\nVorname;Straße;\r\n\r\nJosé;\"Große Straße 5; Hof\";\r\n;;\r\nZoë\r\n";

fn is_read(bytes: &[u8]) {
    let table = table(bytes).expect("a table");
    assert_eq!(table.head(), ["Vorname", "Straße"]);
    let expected = [
        (
            4,
            vec![
                "José".to_owned(),
                "Große Straße 5; Hof".to_owned(),
                String::new(),
            ],
        ),
        (6, vec!["Zoë".to_owned()]),
    ];
    assert_eq!(cells(&table), expected);
    // The rows can be read again, also while others are read.
    let mut first = table.rows().expect("rows");
    first.next();
    assert_eq!(cells(&table), expected);
    let rest: Vec<u64> = first.map(|row| row.expect("a row").number).collect();
    assert_eq!(rest, [4, 5, 6]);
}

#[test]
fn one_table_in_each_encoding_and_compression() {
    let (windows, ..) = WINDOWS_1252.encode(TEXT);
    let little: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = |mark: &[u8], text: &[u8]| [mark, text].concat();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&windows).expect("bytes");
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in [
        ("__MACOSX/._people.csv", b"x".as_slice()),
        ("export/people.csv", &marked(b"\xFF\xFE", &little)),
    ] {
        zip.start_file(name, SimpleFileOptions::default())
            .expect("a file");
        zip.write_all(content).expect("bytes");
    }
    for bytes in [
        TEXT.as_bytes().to_vec(),
        marked(b"\xEF\xBB\xBF", TEXT.as_bytes()),
        windows.to_vec(),
        marked(b"\xFF\xFE", &little),
        little,
        marked(b"\xFE\xFF", &big),
        big,
        TEXT.replace("\r\n", "\n").into_bytes(),
        TEXT.replace("\r\n", "\r").into_bytes(),
        TEXT.replace(';', "\t")
            .replace("5\t Hof", "5; Hof")
            .into_bytes(),
        gzip.finish().expect("bytes"),
        zip.finish().expect("bytes").into_inner(),
    ] {
        is_read(&bytes);
    }
}

#[test]
fn the_first_line_can_name_the_separator() {
    let table = table(b"sep=|\r\na,b,c|d\r\n1|2\r\n").expect("a table");
    assert_eq!(table.head(), ["a,b,c", "d"]);
    assert_eq!(cells(&table), [(2, vec!["1".to_owned(), "2".to_owned()])]);
}

/// A damaged row is reported with its number, and the others are read.
#[test]
fn a_damaged_row_costs_only_itself() {
    let text = [
        "name,city\nZoë,Köln\n".as_bytes(),
        b"Jos\xE9,Paris\n",
        "Ada,\"London\nBob,Berlin\nEve,a,b\nÉva,Pécs\n".as_bytes(),
    ];
    let table = table(&text.concat()).expect("a table");
    let faults = table.rows().expect("rows").map(|row| {
        let row = row.expect("a row");
        match row.content {
            RowContent::Fault { fault, .. } => (row.number, Some(fault)),
            _ => (row.number, None),
        }
    });
    let faults: Vec<(u64, Option<RowFault>)> = faults.collect();
    let too_many = RowFault::TooManyCells {
        cells: 3,
        columns: 2,
    };
    let expected = [
        (2, None),
        (3, Some(RowFault::NotText(0))),
        (4, Some(RowFault::OpenQuote)),
        (5, None),
        (6, Some(too_many)),
        (7, None),
    ];
    assert_eq!(faults, expected);
    assert_eq!(
        RowFault::NotText(1).to_string(),
        "Column B contains bytes that are not text in the encoding of the file"
    );
}

#[test]
fn what_is_no_table_is_an_error() {
    let archive = |names: &[&str]| {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        archive(&files)
    };
    assert!(matches!(table(b""), Err(TableError::Empty)));
    assert!(matches!(table(b"\n;;\n \n"), Err(TableError::Empty)));
    assert!(matches!(
        table(b"a,\"b\n"),
        Err(TableError::Head(RowFault::OpenQuote))
    ));
    assert!(matches!(
        table(&archive(&["a.csv", "b.csv"])),
        Err(TableError::Archive)
    ));
    assert!(matches!(
        table(&archive(&["xl/workbook.xml"])),
        Err(TableError::Spreadsheet(_))
    ));
    assert!(matches!(
        table(b"PK\x03\x04 no archive"),
        Err(TableError::Zip(_))
    ));
    let wide = "x,".repeat(MAX_COLUMNS + 1);
    assert!(matches!(
        table(wide.as_bytes()),
        Err(TableError::TooManyColumns)
    ));
}

/// The encoding of earlier Macintosh computers has small letters where Windows-1252 has others.
#[test]
fn a_file_of_a_macintosh() {
    let names = "Name,Street\nJosé Müller,Größenweg 7\nFrançois Lefèvre,Rue de la Fête\n";
    for encoding in [MACINTOSH, WINDOWS_1252] {
        let (bytes, ..) = encoding.encode(names);
        let table = table(&bytes).expect("a table");
        assert_eq!(table.encoding(), encoding.name());
        let first = table.rows().expect("rows").next().expect("a row");
        let cells = ["José Müller", "Größenweg 7"].map(str::to_owned).to_vec();
        assert_eq!(first.expect("a row").content, RowContent::Cells(cells));
    }
}

proptest::proptest! {
    /// Every row of a table is returned exactly once, whatever the bytes are, and none is lost.
    #[test]
    fn no_bytes_make_it_fail(bytes in proptest::collection::vec(proptest::sample::select(
        b"ab1,;\t|\"\"\"\n\n\r\0\xE9\xC3\xA9\xFF\xFE ".to_vec()), 0..200)) {
        if let Ok(table) = table(&bytes) {
            let rows: Vec<Row> = table.rows().expect("rows").collect::<io::Result<_>>().expect("rows");
            let numbers: Vec<u64> = rows.iter().map(|row| row.number).collect();
            let first = numbers.first().copied().unwrap_or_default();
            let expected: Vec<u64> = (first..).take(numbers.len()).collect();
            proptest::prop_assert_eq!(numbers, expected);
        }
    }

    /// What a program writes is what is read.
    #[test]
    fn what_is_written_is_read(
        rows in proptest::collection::vec(proptest::collection::vec("[a-zé\",;\n\r ]{0,6}", 3), 1..20),
        separator in proptest::sample::select(vec![b',', b';', b'\t', b'|']),
    ) {
        let mut writer = csv::WriterBuilder::new().delimiter(separator).flexible(true).from_writer(Vec::new());
        writer.write_record(["given_name", "family_name", "city"]).expect("bytes");
        for row in &rows {
            writer.write_record(row).expect("bytes");
        }
        let table = table(&writer.into_inner().expect("bytes")).expect("a table");
        let read = table.rows().expect("rows").map(|row| match row.expect("a row").content {
            RowContent::Cells(cells) => cells,
            RowContent::Empty => vec![String::new(); 3],
            RowContent::Fault { fault, .. } => panic!("{fault}"),
        });
        let blank = |row: &Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
        let rows: Vec<Vec<String>> = rows.into_iter()
            .map(|row| if blank(&row) { vec![String::new(); 3] } else { row }).collect();
        proptest::prop_assert_eq!(read.collect::<Vec<_>>(), rows);
    }
}

/// Returns an archive of these files.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default())
            .expect("a file");
        zip.write_all(content.as_bytes()).expect("bytes");
    }
    zip.finish().expect("bytes").into_inner()
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const SHEETS: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Returns a workbook of Excel with a hidden sheet and one with these rows.
fn excel(rows: &str) -> Vec<u8> {
    let sheet = |rows: &str| {
        format!("<worksheet xmlns=\"{SHEETS}\"><sheetData>{rows}</sheetData></worksheet>")
    };
    let workbook = format!(
        "<workbook xmlns=\"{SHEETS}\" xmlns:r=\"{OFFICE}\"><sheets>\
         <sheet name=\"Old\" sheetId=\"1\" state=\"hidden\" r:id=\"rId1\"/>\
         <sheet name=\"People\" sheetId=\"2\" r:id=\"rId2\"/></sheets></workbook>"
    );
    let relations = format!(
        "<Relationships xmlns=\"{RELATIONS}\">\
         <Relationship Id=\"rId1\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
         <Relationship Id=\"rId2\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet2.xml\"/>\
         <Relationship Id=\"rId3\" Type=\"{OFFICE}/styles\" Target=\"styles.xml\"/></Relationships>"
    );
    let root = format!(
        "<Relationships xmlns=\"{RELATIONS}\">\
         <Relationship Id=\"rId1\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    // The format with the number 14 is that of dates.
    let styles = format!(
        "<styleSheet xmlns=\"{SHEETS}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
    );
    archive(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &root),
        ("xl/workbook.xml", &workbook),
        ("xl/_rels/workbook.xml.rels", &relations),
        ("xl/styles.xml", &styles),
        (
            "xl/worksheets/sheet1.xml",
            &sheet("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>"),
        ),
        ("xl/worksheets/sheet2.xml", &sheet(rows)),
    ])
}

/// Text, numbers and dates keep the value that the program shows, and rows their numbers.
#[test]
fn a_spreadsheet_of_excel() {
    let text = |at: &str, text: &str| {
        format!("<c r=\"{at}\" t=\"inlineStr\"><is><t xml:space=\"preserve\">{text}</t></is></c>")
    };
    let rows = format!(
        "<row r=\"2\">{}{}{}</row><row r=\"4\">{}<c r=\"B4\"><v>491701234567</v></c><c r=\"C4\" s=\"1\"><v>33024</v></c></row>\
         <row r=\"5\">{}<c r=\"C5\" t=\"e\"><v>#N/A</v></c></row>",
        text("A2", "Name"),
        text("B2", "Phone"),
        text("C2", "Born"),
        text("A4", "Zoë, \"the Great\""),
        text("A5", "two\nlines"),
    );
    let table = table(&excel(&rows)).expect("a table");
    assert_eq!(table.format(), FileFormat::Excel);
    assert_eq!(table.head(), ["Name", "Phone", "Born"]);
    let all = |cells: &[&str]| {
        cells
            .iter()
            .map(|cell| (*cell).to_owned())
            .collect::<Vec<_>>()
    };
    let expected = [
        (
            4,
            all(&["Zoë, \"the Great\"", "491701234567", "1990-05-31"]),
        ),
        (5, all(&["two\nlines"])),
    ];
    assert_eq!(cells(&table), expected);
}

#[test]
fn a_spreadsheet_of_libreoffice() {
    let content = "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
        xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
        xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body><office:spreadsheet>\
        <table:table table:name=\"People\"><table:table-row>\
        <table:table-cell office:value-type=\"string\"><text:p>Name</text:p></table:table-cell>\
        <table:table-cell office:value-type=\"string\"><text:p>Born</text:p></table:table-cell></table:table-row>\
        <table:table-row table:number-rows-repeated=\"2\"><table:table-cell/></table:table-row>\
        <table:table-row><table:table-cell office:value-type=\"string\"><text:p>Zoë</text:p></table:table-cell>\
        <table:table-cell office:value-type=\"date\" office:date-value=\"1990-05-31\"><text:p>31/05/90</text:p></table:table-cell>\
        </table:table-row></table:table></office:spreadsheet></office:body></office:document-content>";
    let bytes = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", content),
        (
            "META-INF/manifest.xml",
            "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>",
        ),
    ]);
    let table = table(&bytes).expect("a table");
    assert_eq!(table.format(), FileFormat::OpenDocument);
    assert_eq!(table.head(), ["Name", "Born"]);
    assert_eq!(
        cells(&table),
        [(4, vec!["Zoë".to_owned(), "1990-05-31".to_owned()])]
    );
}
