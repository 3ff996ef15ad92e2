//! Whether a client prefers a page for people or its machine-readable form.

use http::{HeaderMap, header::ACCEPT};

use crate::quality::qualities;

const MACHINE: [&str; 2] = ["application/hal+json", "application/json"];
const PEOPLE: [&str; 2] = ["text/html", "text/*"];
const ANY: &str = "*/*";
/// A media type that browsers send in addition to HTML and that programs do not. By default, the
/// old Java client sends `text/html, image/gif, ..., */*; q=.2`.
const BROWSERS: &str = "application/xhtml+xml";

/// The qualities of the requested media types, by name and for any type.
#[derive(Debug, Default)]
struct AcceptedTypes {
    machine: Option<u16>,
    people: Option<u16>,
    any: u16,
    is_browser: bool,
}

impl AcceptedTypes {
    fn of(headers: &HeaderMap) -> Self {
        let mut asked = Self::default();
        for (media, quality) in qualities(headers, &ACCEPT) {
            if MACHINE.contains(&media.as_str()) {
                asked.machine = asked.machine.max(Some(quality));
            } else if PEOPLE.contains(&media.as_str()) {
                asked.people = asked.people.max(Some(quality));
            } else if media == ANY {
                asked.any = asked.any.max(quality);
            }
            asked.is_browser |= media == BROWSERS;
        }
        asked
    }
}

/// Returns whether `Accept` names HAL or JSON and does not prefer HTML. Without the header, a page
/// is HTML.
///
/// Requirements: ENT-22.
pub(crate) fn wants_hal(headers: &HeaderMap) -> bool {
    let asked = AcceptedTypes::of(headers);
    asked.machine.unwrap_or(0) > asked.people.unwrap_or(0).max(asked.any)
}

/// Returns whether `Accept` prefers HTML to HAL. If it does not name HAL but accepts any type, only
/// a browser gets HTML; other clients get the form for programs.
///
/// Requirements: HAL-03.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    let asked = AcceptedTypes::of(headers);
    let is_meant = asked.machine.is_some() || asked.any == 0 || asked.is_browser;
    is_meant && asked.people.unwrap_or(0) > asked.machine.unwrap_or(asked.any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(accept: &str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())])
    }

    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    #[test]
    fn ent_22_the_machine_form_is_asked_for_by_name() {
        for machine in [
            "application/hal+json",
            "application/json",
            "Application/HAL+JSON; q=0.5",
            "text/html;q=0.4, application/hal+json;q=0.5",
            "application/hal+json, */*;q=0.1",
        ] {
            assert!(wants_hal(&headers(machine)), "{machine}");
        }
        for people in [
            "*/*",
            "text/html",
            BROWSER,
            "application/hal+json, */*",
            "application/hal+json;q=0.3, text/html;q=0.31",
            "application/hal+json;q=0",
            "image/png",
            "",
        ] {
            assert!(!wants_hal(&headers(people)), "{people}");
        }
        assert!(!wants_hal(&HeaderMap::new()));
    }

    #[test]
    fn f14_html_in_place_of_hal_is_asked_for_by_name() {
        for html in [
            BROWSER,
            "text/html",
            "text/*",
            "text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01",
            "text/html;q=0.5, application/hal+json;q=0.4",
            "application/hal+json;q=0, text/html;q=0.1, */*",
        ] {
            assert!(wants_html(&headers(html)), "{html}");
        }
        for hal in [
            "*/*",
            "",
            "application/hal+json",
            "application/json, text/html;q=0.9",
            "text/html, application/hal+json",
            "text/html, */*",
            // `HttpURLConnection` of Java sends this by default.
            "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
            "text/html, image/gif, image/jpeg, */*; q=0.2",
            "text/*, */*;q=0.5",
            "text/html;q=0, */*",
            "text/html;q=0.5, */*;q=0.8",
            "image/png",
        ] {
            assert!(!wants_html(&headers(hal)), "{hal}");
        }
        assert!(!wants_html(&HeaderMap::new()));
    }
}
