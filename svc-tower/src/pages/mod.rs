//! The documentation inside the mount: a start page, one page for each relation and each error code (ENT-22).

mod failures;
mod html;
mod relation;
mod start;
mod words;

use std::borrow::Cow;

use svc_core::{Base, api::Api, link::Target};

use self::html::Page;
use crate::response::{Answer, Media};

/// The name of the style sheet among the pages; no relation has it.
const STYLE: &str = "style";

const STYLE_SHEET: &str = "body{margin:2rem auto;max-width:62rem;padding:0 1rem;font:1rem/1.5 sans-serif;color:#222}\n\
                           table{border-collapse:collapse;width:100%;margin:1rem 0}\n\
                           th,td{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}\n\
                           code{font-family:monospace;background:#f3f3f3;padding:0 .2em;overflow-wrap:anywhere}\n\
                           .index{columns:3 14rem;list-style:none;padding:0}\n";

/// The start page of a service that takes bodies of at most `body_limit` bytes.
pub(crate) fn start(api: &Api, base: &Base, body_limit: usize) -> Answer {
    Answer::page(Media::Html, start::start(api, base, body_limit))
}

/// The page of a relation, with or without the dialect's prefix, or of an error code; `None` for any other name.
pub(crate) fn page(api: &Api, base: &Base, name: &str) -> Option<Answer> {
    let name = api.dialect().without_prefix(name).unwrap_or(name);
    let page = match name {
        STYLE => return Some(Answer::page(Media::Css, STYLE_SHEET.to_owned())),
        "error" => failures::error_object(api, base),
        "capabilities" => capabilities(api, base),
        _ => relation::relation(api, base, name).or_else(|| failures::code(api, base, name))?,
    };
    Some(Answer::page(Media::Html, page))
}

fn capabilities(api: &Api, base: &Base) -> String {
    let mut page = open(api, base, &format!("`{}`", api.dialect().relation("capabilities")));
    let href = api.href(base, &Target::Capabilities);
    page.pointer("What this server supports, for machines; readable without a key:", None, &href, &href);
    page.finish()
}

/// A page with a way back to the start page.
fn open(api: &Api, base: &Base, title: &str) -> Page {
    let mut page = Page::new(title, &page_href(api, base, STYLE));
    page.pointer("Documentation of", None, &api.href(base, &Target::Docs), base.as_str());
    page
}

/// The address of the page of a relation or an error code.
fn page_href(api: &Api, base: &Base, name: &str) -> String {
    api.href(base, &Target::DocsPage(Cow::Owned(name.to_owned())))
}
