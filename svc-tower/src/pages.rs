//! The documentation inside the mount (ENT-22).

use svc_core::{Base, api::Api, link::Target};

use crate::{
    response::{Answer, Media},
    settings::Settings,
};

/// The start page: how persons are matched, and where the rest is declared (HLP-05, UND-40).
pub(crate) fn start(api: &Api, base: &Base, settings: &Settings) -> Answer {
    let (entry, capabilities) = (api.href(base, &Target::EntryPoint), api.href(base, &Target::Capabilities));
    let (matching, limit) = (escaped(api.matching_text()), settings.body_limit);
    let body = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>API</title></head>\n<body>\n\
         <h1>API</h1>\n<p>Begin at <a href=\"{entry}\">the entry point</a> and follow links.</p>\n\
         <p><a rel=\"capabilities\" href=\"{capabilities}\">What this server supports</a>, for machines.</p>\n\
         <h2>Matching of persons</h2>\n<p>{matching}</p>\n<h2>Limits</h2>\n<p>Bodies have at most {limit} bytes.</p>\n\
         </body>\n</html>\n"
    );
    Answer::page(Media::Html, body)
}

/// The page of a relation; `None` for a relation that nothing is known of.
pub(crate) fn page(_: &Api, _: &Base, _: &str) -> Option<Answer> {
    None
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
