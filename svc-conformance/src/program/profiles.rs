//! `profiles`: lists the claims that a server can make.

use std::fmt::Write as _;

use super::cli::{ProfilesOptions, TableFormat};
use super::write;
use crate::profile::Profile;

pub(super) fn profiles(options: &ProfilesOptions) -> u8 {
    write(&match options.format {
        TableFormat::Text => text(),
        TableFormat::Markdown => markdown(),
        TableFormat::Json => json(),
    });
    0
}

fn text() -> String {
    let mut text = String::new();
    for profile in Profile::every() {
        let _ = writeln!(text, "{:<14} {}", profile.as_str(), profile.claim());
        for need in profile.needs() {
            let _ = writeln!(text, "{:14} needs {need}", "");
        }
        let _ = writeln!(text, "{:14} requirements: {}", "", requirements(profile));
        if !profile.former().is_empty() {
            let _ = writeln!(text, "{:14} formerly {}", "", profile.former().join(", "));
        }
        text.push('\n');
    }
    text + "A requirement applies if the server declares its subject: svc-conformance run URL --profile NAME\n"
}

/// Returns the table for the README.
fn markdown() -> String {
    let mut text =
        "| Profile | Claim | Required in the declaration | Requirements |\n|---|---|---|---|\n"
            .to_owned();
    for profile in Profile::every() {
        let needs: Vec<&str> = profile.needs().collect();
        let (name, claim, needs) = (profile.as_str(), profile.claim(), needs.join("; "));
        let _ = writeln!(
            text,
            "| `{name}` | {claim} | {needs} | {} |",
            requirements(profile)
        );
    }
    text
}

fn json() -> String {
    let profiles: Vec<_> = Profile::every()
        .map(|profile| {
            serde_json::json!({
                "name": profile, "former": profile.former(), "claim": profile.claim(),
                "needs": profile.needs().collect::<Vec<_>>(), "kinds": profile.kinds(),
            })
        })
        .collect();
    format!("{:#}\n", serde_json::Value::from(profiles))
}

/// Returns the requirements of a profile, as text.
fn requirements(profile: Profile) -> String {
    match profile.kinds() {
        Some(kinds) => {
            let areas: Vec<String> = kinds.iter().map(|kind| format!("`RES-{kind}`")).collect();
            format!("all general ones, {}", areas.join(", "))
        }
        None => "all".to_owned(),
    }
}
