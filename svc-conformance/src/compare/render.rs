//! A comparison as text and as Markdown.

use std::fmt::{self, Write as _};

use super::{Comparison, FeaturePair, FieldPair, KindPair, TransferResult};
use crate::values::display_text;

impl fmt::Display for TransferResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("-"),
            Self::Whole => f.write_str("whole"),
            Self::Part(why) => write!(f, "in part: {}", display_text(why, 200)),
            Self::Lost(why) => write!(f, "lost: {}", display_text(why, 200)),
            Self::Blocks(why) => f.write_str(why),
        }
    }
}

impl Comparison {
    /// Returns the tables, with `|` between the cells in Markdown, and spaces in plain text.
    pub(crate) fn tables(&self, markdown: bool) -> String {
        let (a, b) = (display_text(&self.a, 60), display_text(&self.b, 60));
        let head = |name: &str| {
            if markdown {
                format!("\n## {name}\n\n")
            } else {
                format!("\n{name}\n")
            }
        };
        let mut text = if markdown {
            "# What can be exchanged\n\n"
        } else {
            "What can be exchanged\n"
        }
        .to_owned();
        let rows = self.kinds.iter().map(|kind| {
            let fields = |fate: fn(&FieldPair) -> &TransferResult| kind.fields.iter().map(fate);
            let a_to_b = carried(kind.a_to_b_blocked.as_ref(), fields(|pair| &pair.a_to_b));
            let b_to_a = carried(kind.b_to_a_blocked.as_ref(), fields(|pair| &pair.b_to_a));
            [kind.kind.to_owned(), a_to_b, b_to_a]
        });
        let (there, back) = (format!("{a} -> {b}"), format!("{b} -> {a}"));
        table(
            &mut text,
            markdown,
            [String::new(), there.clone(), back.clone()],
            rows,
        );
        for kind in &self.kinds {
            text.push_str(&head(kind.kind));
            let operations = KindPair::operations(kind);
            table(
                &mut text,
                markdown,
                ["operations".to_owned(), a.clone(), b.clone()],
                operations,
            );
            if kind.fields.is_empty() {
                continue;
            }
            text.push('\n');
            let cells = kind.fields.iter().map(|pair| {
                let FieldPair {
                    field,
                    a,
                    b,
                    a_to_b,
                    b_to_a,
                } = pair;
                [
                    display_text(field, 80),
                    (*a).to_owned(),
                    (*b).to_owned(),
                    a_to_b.to_string(),
                    b_to_a.to_string(),
                ]
            });
            let titles = [
                "field".to_owned(),
                a.clone(),
                b.clone(),
                there.clone(),
                back.clone(),
            ];
            table(&mut text, markdown, titles, cells);
        }
        for (name, pairs) in [
            ("helpers", &self.helpers),
            ("action functions", &self.action_functions),
        ] {
            if pairs.is_empty() {
                continue;
            }
            text.push_str(&head(name));
            let word = |has: bool| if has { "yes" } else { "missing" }.to_owned();
            let rows = pairs
                .iter()
                .map(|FeaturePair { name, a, b }| [display_text(name, 60), word(*a), word(*b)]);
            table(
                &mut text,
                markdown,
                [String::new(), a.clone(), b.clone()],
                rows,
            );
        }
        text
    }
}

impl KindPair {
    fn operations(&self) -> impl Iterator<Item = [String; 3]> + '_ {
        let word = |has: &[String], name: &str| {
            if has.iter().any(|one| one == name) {
                "yes"
            } else {
                "missing"
            }
        };
        let either = |name: &&str| {
            self.a_operations
                .iter()
                .chain(&self.b_operations)
                .any(|one| one == name)
        };
        let names = ["list", "read", "create", "update", "delete"]
            .into_iter()
            .filter(either);
        names.map(move |name| {
            [
                name,
                word(&self.a_operations, name),
                word(&self.b_operations, name),
            ]
            .map(ToOwned::to_owned)
        })
    }
}

/// Returns how much of a kind is transferred, for one cell.
fn carried<'f>(
    blocked: Option<&String>,
    fates: impl Iterator<Item = &'f TransferResult>,
) -> String {
    if let Some(why) = blocked {
        return format!("no: {}", display_text(why, 200));
    }
    let (mut whole, mut part, mut lost) = (0_usize, 0_usize, 0_usize);
    for fate in fates {
        match fate {
            TransferResult::Whole => whole = whole.saturating_add(1),
            TransferResult::Part(_) => part = part.saturating_add(1),
            TransferResult::Lost(_) => lost = lost.saturating_add(1),
            TransferResult::Nothing | TransferResult::Blocks(_) => {}
        }
    }
    format!("{whole} fields whole, {part} in part, {lost} lost")
}

fn table<const N: usize>(
    text: &mut String,
    markdown: bool,
    titles: [String; N],
    rows: impl IntoIterator<Item = [String; N]>,
) {
    let rows: Vec<[String; N]> = std::iter::once(titles).chain(rows).collect();
    let width = |at: usize| {
        rows.iter()
            .filter_map(|row| row.get(at))
            .map(|cell| cell.chars().count())
            .max()
    };
    for (number, row) in rows.iter().enumerate() {
        if markdown {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|{}", "---|".repeat(N));
            }
        } else {
            let cells = row
                .iter()
                .enumerate()
                .map(|(at, cell)| format!("{cell:<0$}", width(at).unwrap_or_default()));
            let _ = writeln!(
                text,
                "  {}",
                cells.collect::<Vec<_>>().join("  ").trim_end()
            );
        }
    }
}
