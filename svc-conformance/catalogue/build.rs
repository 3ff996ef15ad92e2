//! Generates a constant for each requirement of the catalogue, so that the compiler knows every id.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=catalogue.toml");
    let mut constants = String::new();
    for line in fs::read_to_string("catalogue.toml")?.lines() {
        let Some(id) = line
            .strip_prefix("id = \"")
            .and_then(|rest| rest.strip_suffix('"'))
        else {
            continue;
        };
        let name = id.replace('-', "_").to_uppercase();
        let _ = writeln!(
            constants,
            "/// The requirement {id}.\npub const {name}: &str = \"{id}\";"
        );
    }
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    fs::write(Path::new(&folder).join("rows.rs"), constants)
}
