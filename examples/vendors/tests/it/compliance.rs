//! Tests the example `compliance_check`: it prints the report of its service, and its exit code is
//! that of the suite.

use std::process::Command;

#[test]
fn it_prints_a_report_and_finds_nothing_wrong() {
    let check = || Command::new(env!("CARGO_BIN_EXE_compliance_check"));
    let output = check().arg("quick").output().expect("the program");
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("RESULT ") && !said.contains("FAIL ") && !said.contains("ERROR "),
        "{said}"
    );
    assert!(said.contains("RESULT conformant"), "{said}");
    let output = check().arg("gentle").output().expect("the program");
    assert_eq!(output.status.code(), Some(1));
}
