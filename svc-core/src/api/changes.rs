//! Answers what was changed since a cursor (SYN-01 to SYN-08).

use http::StatusCode;

use super::{Api, Reply};
use crate::{
    context::Context,
    error::{Code, Error, Problem, Result},
    hal::{self, ChangesView},
    link::Target,
    model::Kind,
    ops::{ChangesRequest, Feed},
    page::{PageRequest, Parameter},
};

/// The parameter that has the cursor.
const AFTER: &str = "after";

impl Api {
    /// Whether there is a change feed (SYN-01).
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.inner.changes.is_some()
    }

    /// The relation that leads to the change feed, and that its entries stand under (SYN-01).
    #[must_use]
    pub fn changes_relation(&self) -> String {
        self.dialect().relation(hal::CHANGES)
    }

    /// The query parameters of the change feed (SYN-05).
    #[must_use]
    pub fn changes_parameters(&self) -> Vec<Parameter> {
        self.parameters().into_iter().filter(|parameter| parameter.name != "page").collect()
    }

    pub(super) async fn changes(&self, cx: &Context, query: Option<&str>) -> Result<Reply> {
        let Some(changes) = &self.inner.changes else { return Err(Error::not_implemented()) };
        let sizes = self.sizes();
        let asked = match PageRequest::read(query, sizes.page, sizes.max_page) {
            Ok(asked) => asked,
            Err(problems) => return Ok(self.invalid(None, &problems)),
        };
        let after = PageRequest::parameter(query, AFTER);
        // What has not the form of a cursor is dropped there, and would lead to the beginning.
        if after != asked.request.after {
            return Ok(self.unknown_cursor());
        }
        let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| cx.may_read(*kind)).collect();
        let request = ChangesRequest::new(after, kinds, asked.request.size);
        let page = match changes.changes(cx, &request).await? {
            Feed::Page(page) => page,
            Feed::Unknown => return Ok(self.unknown_cursor()),
            Feed::Expired => return Ok(self.expired_cursor(cx)),
        };
        let view = ChangesView {
            page: &page,
            after: request.after.as_deref(),
            per_page: request.size,
            repeated: &asked.repeated,
        };
        let mut body = Vec::with_capacity(page.entries.len().saturating_mul(256).saturating_add(1024));
        hal::changes(&self.hal(&cx.base), &view, &mut body);
        Ok(Reply::hal(StatusCode::OK, body))
    }

    fn unknown_cursor(&self) -> Reply {
        let text =
            "{property} is no cursor that the change feed gave to this key's tenant. Follow a `next` link as it is.";
        self.invalid(None, &[Problem::new(Code::CursorInvalid, AFTER, text)])
    }

    fn expired_cursor(&self, cx: &Context) -> Reply {
        let text = "What follows this cursor is not kept any more. Begin anew at the `first` or `start` link.";
        let mut reply = self.failure(Some(&Target::Changes), Code::CursorExpired, text);
        let mut body = reply.body.to_vec();
        hal::begin_anew(&self.hal(&cx.base), &mut body);
        reply.body = body.into();
        reply
    }
}
