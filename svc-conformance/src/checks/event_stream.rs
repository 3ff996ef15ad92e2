//! The change feed as an event stream.
//!
//! Requirements: SYN-12.

use super::change_feed::{ObservedEntry, behind, end, subject};
use super::prelude::*;
use crate::address;

pub(super) const CHECKS: &[Check] =
    &[check!("syn/events", [SYN_12], events).needs("change_events and *.create and *.read")];

/// The media type of an event stream.
const EVENTS: &str = "text/event-stream";

/// An event of a stream: the cursor after it, and its page, if it has one.
type StreamEvent = (String, Option<Representation>);

/// Returns the events of a response that is a stream.
fn stream(
    api: &CheckClient<'_>,
    url: &str,
    answer: &TestResponse,
) -> Result<Vec<StreamEvent>, CheckStop> {
    let media = answer.header("content-type").unwrap_or_default();
    let is_stream = answer.status == 200 && media.starts_with(EVENTS);
    api.cx.must(ids::SYN_12, is_stream, || {
        format!("not an event stream, but the type `{media}`: {answer}")
    })?;
    let text = String::from_utf8_lossy(&answer.body).replace("\r\n", "\n");
    let mut events = Vec::new();
    for block in text.split("\n\n") {
        let field = |name: &str| -> Vec<&str> {
            let values = block
                .lines()
                .filter_map(|line| line.split_once(':'))
                .filter(|(field, _)| *field == name);
            values
                .map(|(_, value)| value.strip_prefix(' ').unwrap_or(value))
                .collect()
        };
        let data = field("data").join("\n");
        let Some(id) = field("id").last().map(|id| (*id).to_owned()) else {
            api.cx.observe(ids::SYN_12, data.is_empty(), || {
                format!("an event without `id`: {block}")
            });
            continue;
        };
        let page = serde_json::from_str(&data).ok();
        api.cx
            .observe(ids::SYN_12, data.is_empty() || page.is_some(), || {
                format!("`data` is not a page: {block}")
            });
        events.push((
            id,
            page.map(|page| Representation::new(url.to_owned(), page, answer.prefix.clone())),
        ));
    }
    Ok(events)
}

/// Returns the changes of these records in the events.
fn told_by(events: &[StreamEvent], records: &[String]) -> Vec<ObservedEntry> {
    let pages = events.iter().filter_map(|(_, page)| page.as_ref());
    let entries = pages.flat_map(Representation::embedded);
    let told = entries.filter_map(|entry| {
        let own = entry["kind"].as_str().and_then(|kind| entry.href(kind))?;
        let record = records.iter().position(|record| *record == own)?;
        Some(ObservedEntry {
            what: entry["what"].as_str().unwrap_or_default().to_owned(),
            record,
        })
    });
    told.collect()
}

/// The event stream reports the same changes as the pages of the feed.
async fn events(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = subject(cx, &[])?;
    let start = address::with_parameter(&end(&api).await?, "per_page", "2");
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(
            api.reread(&api.make(of.one, &json!({})).await?)
                .await?
                .self_url()?,
        );
    }
    let (pages, ..) = behind(&api, &start, &own).await?;
    let whole = stream(&api, &start, &api.events(&start, None).await?)?;
    let told = told_by(&whole, &own);
    cx.must(ids::SYN_12, told == pages, || {
        format!("the events contain {told:?}, but the pages contain {pages:?}")
    })?;
    let Some((first, rest)) = whole.split_first() else {
        return Ok(());
    };
    // The URL alone would start from the beginning.
    let again = told_by(
        &stream(&api, &start, &api.events(&start, Some(&first.0)).await?)?,
        &own,
    );
    let expected = told_by(rest, &own);
    cx.observe(ids::SYN_12, again == expected, || {
        format!("after the first event the stream contains {again:?}, but before it contained {expected:?}")
    });
    let cursors = std::iter::once(first)
        .chain(rest)
        .filter_map(|(id, page)| Some((id, page.as_ref()?)));
    for (id, page) in cursors {
        let (way, more) = if page["has_more"] == json!(true) {
            ("next", true)
        } else {
            ("last", false)
        };
        let href = page.link(way).unwrap_or_default();
        let leads = address::parameter(&href, "after");
        cx.observe(ids::SYN_12, leads == Some(id), || {
            format!("has_more is {more}, `{way}` points after {leads:?}, but the event is {id}")
        });
    }
    let wrong = api.events(&start, Some("no-such-cursor")).await?;
    cx.observe(ids::SYN_12, wrong.status == 400, || {
        format!("an event id that does not exist: {wrong}")
    });
    Ok(())
}
