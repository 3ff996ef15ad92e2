//! The error object, and one page for each error code (Annex C, ERR-18 to ERR-28).

use svc_core::{Base, Code, api::Api};

use super::{html::Cell, open, page_href};

/// The page of the error object.
pub(super) fn error_object(api: &Api, base: &Base) -> String {
    let mut page = open(api, base, &format!("`{}`", api.dialect().relation("error")));
    page.paragraph("What a failed request is answered with. 401 and 403, and a read of what is not there, have no body unless this server sends error bodies everywhere.");
    let row = |name: &str, ty: &str, meaning: &str| {
        [Cell::Code(name.to_owned()), Cell::Prose(ty.to_owned()), Cell::Prose(meaning.to_owned())]
    };
    page.table(
        ["Field", "Type", "Meaning"],
        [
            row("request_type", "enum: `atomic`, `non-atomic`", "Whether all of the request or nothing was done"),
            row("response_code", "integer", "The HTTP status; 400 when non-atomic"),
            row("resource_status", "object[]", "One entry, or for a non-atomic request one for each resource"),
            row("resource_status[].resource", "string", "Relation of the resource"),
            row("resource_status[].response_code", "integer", "The status of this entry"),
            row(
                "resource_status[].error_descriptions",
                "object[]",
                "What is wrong, all at once; absent where nothing is",
            ),
            row("error_descriptions[].error_code", "string", "One of the codes below"),
            row("error_descriptions[].description", "string", "What is wrong, for a human reader"),
            row("error_descriptions[].properties", "string[]", "The properties at fault, such as `responses[2].name`"),
            row("error_descriptions[].hint", "string", "How to mend it"),
            row("error_descriptions[].reference_code", "string", "Leads to this server's log"),
        ],
    );
    page.heading("codes", "Codes");
    page.table(
        ["Code", "Status", "Meaning"],
        Code::ALL.iter().map(|code| {
            let link = Cell::Link(page_href(api, base, code.as_str()), code.as_str().to_owned());
            [link, Cell::Prose(code.status().to_string()), Cell::Prose(code.meaning().trim().to_owned())]
        }),
    );
    page.finish()
}

/// The page of an error code; `None` when there is no such code.
pub(super) fn code(api: &Api, base: &Base, name: &str) -> Option<String> {
    let code = Code::ALL.iter().find(|code| code.as_str() == name)?;
    let mut page = open(api, base, &format!("`{name}`"));
    page.paragraph(&format!("{}.", code.meaning().trim().trim_end_matches('.')));
    page.paragraph(&format!("It comes with the HTTP status {}, or in an entry with this code.", code.status()));
    page.pointer("It stands in", None, &page_href(api, base, "error"), &api.dialect().relation("error"));
    Some(page.finish())
}
