//! Whether a client asks for the machine form of a page.

use http::{HeaderMap, header::ACCEPT};

const MACHINE: [&str; 2] = ["application/hal+json", "application/json"];
const PEOPLE: [&str; 3] = ["text/html", "text/*", "*/*"];

/// Whether `Accept` names HAL or JSON, and HTML not rather; without the header a page is HTML (ENT-22).
pub(super) fn wants_machine_form(headers: &HeaderMap) -> bool {
    let [mut machine, mut people] = [0_u16; 2];
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    for range in values.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let quality = quality.map_or(1000, thousandths);
        if MACHINE.contains(&media.as_str()) {
            machine = machine.max(quality);
        } else if PEOPLE.contains(&media.as_str()) {
            people = people.max(quality);
        }
    }
    machine > people
}

/// A quality such as `0.5` in thousandths; what is no number counts as 1.
fn thousandths(quality: &str) -> u16 {
    let (whole, fraction) = quality.split_once('.').unwrap_or((quality, ""));
    if whole != "0" {
        return 1000;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    digits.parse().unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ent_22_the_machine_form_is_asked_for_by_name() {
        let asks = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            wants_machine_form(&headers)
        };
        for machine in [
            "application/hal+json",
            "application/json",
            "Application/HAL+JSON; q=0.5",
            "text/html;q=0.4, application/hal+json;q=0.5",
            "application/hal+json, */*;q=0.1",
        ] {
            assert!(asks(machine), "{machine}");
        }
        for people in [
            "*/*",
            "text/html",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "application/hal+json, */*",
            "application/hal+json;q=0.3, text/html;q=0.31",
            "application/hal+json;q=0",
            "image/png",
            "",
        ] {
            assert!(!asks(people), "{people}");
        }
        assert!(!wants_machine_form(&HeaderMap::new()));
    }
}
