//! The requirements that fail for each mutant. The suite uses them to find the cause of failures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use svc_conformance::Intensity;
use svc_conformance::catalogue::Catalogue;

use super::mutants::registry;
use super::pool::{Pool, Room};
use super::trial::{failed, faulty};

/// Runs the mutants whose name or family contains `only` at the lowest intensity, and writes the
/// failed requirements to a file of known faults. The lines of other mutants, and of mutants whose
/// run failed, are unchanged. Lines of mutants that no longer exist are removed. `tell` is called
/// with each line.
///
/// # Errors
/// Returns the names of the mutants whose run failed, together with the file.
pub async fn updated(
    text: &str,
    only: Option<&str>,
    seed: u64,
    workers: usize,
    mut tell: impl FnMut(&str, &str),
) -> (String, Result<(), String>) {
    let faults = registry();
    let names: BTreeSet<String> = faults.iter().map(|fault| fault.name.clone()).collect();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let mut known: BTreeMap<String, String> = lines
        .filter(|(name, _)| names.contains(*name))
        .map(|(name, rows)| (name.to_owned(), rows.to_owned()))
        .collect();
    let (room, mut running) = (Room::of(workers), Pool::new());
    for fault in faults {
        if only.is_some_and(|only| !fault.name.contains(only) && !fault.family.contains(only)) {
            continue;
        }
        running.start(&room, async move {
            let report = faulty(&fault, Intensity::Quick, seed, &[]).await;
            (
                fault.name,
                report.map(|report| ranges(failed(&report).map(|row| row.id.as_str()))),
            )
        });
    }
    let mut broken = Vec::new();
    while let Some(ended) = running.next().await {
        match ended {
            Ok((name, Ok(rows))) if !rows.is_empty() => {
                tell(&name, &rows);
                known.insert(name, rows);
            }
            Ok((name, Ok(_))) => {
                tell(&name, "no requirement fails");
                known.remove(&name);
            }
            Ok((name, Err(error))) => broken.push(format!("{name}: {error}")),
            Err(error) => broken.push(error.to_string()),
        }
    }
    let mut text = String::new();
    for (name, rows) in known {
        let _ = writeln!(text, "{name}\t{rows}");
    }
    (
        text,
        if broken.is_empty() {
            Ok(())
        } else {
            Err(broken.join("; "))
        },
    )
}

/// Formats requirements in the order of the catalogue; `HAL-02..05` are four of them.
fn ranges<'r>(rows: impl Iterator<Item = &'r str>) -> String {
    let rows: BTreeSet<&str> = rows.collect();
    let all = Catalogue::built_in()
        .map(Catalogue::requirements)
        .unwrap_or_default();
    let mut ranges: Vec<(&str, u16, u16)> = Vec::new();
    for id in all
        .iter()
        .map(|row| row.id.as_str())
        .filter(|id| rows.contains(id))
    {
        let Some((area, number)) = id.rsplit_once('-') else {
            continue;
        };
        let Ok(number) = number.parse::<u16>() else {
            continue;
        };
        match ranges.last_mut() {
            Some((of, _, last)) if *of == area && last.checked_add(1) == Some(number) => {
                *last = number;
            }
            _ => ranges.push((area, number, number)),
        }
    }
    let written = ranges.into_iter().map(|(area, first, last)| {
        let rest = if first == last {
            String::new()
        } else {
            format!("..{last:02}")
        };
        format!("{area}-{first:02}{rest}")
    });
    written.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbours_are_written_as_a_range() {
        assert_eq!(
            ranges(["HAL-03", "HAL-02", "COL-31", "HAL-06"].into_iter()),
            "HAL-02..03 HAL-06 COL-31"
        );
        assert_eq!(ranges([].into_iter()), "");
    }
}
