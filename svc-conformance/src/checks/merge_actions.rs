//! What a merge does to the records that belong to a person, and what the change feed reports of
//! it.
//!
//! Requirements: MRG-06, MRG-07, MRG-12, MRG-25, MRG-26.

use super::change_feed::{ObservedEntry, behind, end};
use super::helper_calls::own_fields;
use super::merges::{Pair, created, named, own};
use super::prelude::*;
use crate::fixtures::{helper_address, ticketed};
use crate::kinds::KINDS;

pub(super) const CHECKS: &[Check] = &[
    check!("mrg/actions", [MRG_06, MRG_07, MRG_12], actions)
        .needs("merge_people and people.create and people.read"),
    check!("mrg/canvasses", [MRG_26], canvasses).needs(
        "merge_people and people.create and people.read and helper.record_canvass and canvasses.read",
    ),
    check!("mrg/tickets", [MRG_25], tickets).needs(
        "merge_people and people.create and people.read and people.delete and fixture.ticketed_event \
         and field:attendance.tickets[].person and attendances.create and attendances.read",
    ),
];

/// The kinds of which a person has one in a container.
const MEMBERSHIPS: [(&str, &str); 2] = [("tag", "tagging"), ("list", "item")];

/// An action of a person.
pub(super) struct Action {
    pub(super) kind: CatalogueKind,
    container: Representation,
    pub(super) record: Representation,
    /// The total of the container that counts it.
    total: Option<f64>,
}

/// Returns the total of a container that counts its actions.
pub(super) fn counted(
    cx: &CheckContext,
    kind: CatalogueKind,
    container: &Representation,
) -> Option<f64> {
    let path = kind
        .counted
        .filter(|_| !cx.declared().behaves("totals_follow_later"))?;
    container[path].as_f64()
}

/// Records an action of each kind for the person who is merged, and memberships of both people.
async fn actions(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let mut moved = Vec::new();
    for kind in movable(cx).take(cx.cases(2, 6, 6)) {
        moved.push(action(&api, kind, &pair.merged).await?);
    }
    let groups = memberships(&api, &pair).await?;
    let cursor = if cx.declared().behaves("changes") {
        Some(end(&api).await?)
    } else {
        None
    };
    pair.merge(&api).await?;
    for action in &moved {
        belongs(&api, ids::MRG_06, action, &pair.remaining).await?;
    }
    for (container, one) in groups {
        only_once(&api, &container, one, &pair).await?;
    }
    match cursor {
        Some(cursor) => reported(&api, &cursor, &pair, &moved).await,
        None => Ok(()),
    }
}

/// Returns the kinds of actions that belong to a person.
pub(super) fn movable(cx: &CheckContext) -> impl Iterator<Item = CatalogueKind> {
    let declared = cx.declared();
    // A helper finds the person by an identifier.
    let is_helped = |kind: &CatalogueKind| {
        declared.has_field("*", "identifiers")
            && kind.helper.is_some_and(|helper| declared.helps(helper))
    };
    KINDS.iter().copied().filter(move |kind| {
        declared.offers(kind.one, "read")
            && (declared.offers(kind.one, "create") || is_helped(kind))
            && declared.links(kind.one, "person")
            && kind
                .under
                .is_some_and(|under| !matches!(under, "person" | "tag" | "list"))
    })
}

/// Adds both people to a new container of each kind of membership. Returns each container with the
/// kind.
pub(super) async fn memberships(
    api: &CheckClient<'_>,
    pair: &Pair,
) -> Result<Vec<(Representation, &'static str)>, CheckStop> {
    let (cx, mut groups) = (api.cx, Vec::new());
    for (group, one) in MEMBERSHIPS {
        if cx.declared().offers(group, "create") && cx.declared().offers(one, "create") {
            let container = api.make(group, &json!({})).await?;
            for person in [&pair.remaining, &pair.merged] {
                let marked = cx.marked(&json!({}));
                api.act(&container, one, person, &marked).await?;
            }
            groups.push((container, one));
        }
    }
    Ok(groups)
}

/// Records an action of a person in a new container.
pub(super) async fn action(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    person: &Representation,
) -> Result<Action, CheckStop> {
    let (cx, under) = (api.cx, kind.under.unwrap_or_default());
    let fields = match kind.one {
        "donation" => part(cx, under, &json!({"currency": "EUR"})),
        "attendance" => part(cx, under, &json!({"type": "open"})),
        _ => json!({}),
    };
    let container = api.make(under, &fields).await?;
    let fields = cx.marked(&own_fields(cx, kind.one));
    let record = api.act(&container, kind.one, person, &fields).await?;
    let container = api.as_read(under, container).await?;
    Ok(Action {
        kind,
        total: counted(cx, kind, &container),
        container,
        record,
    })
}

/// Whether a record links to a person.
pub(super) async fn links_to(
    api: &CheckClient<'_>,
    record: &Representation,
    name: &str,
    person: &Representation,
) -> Result<bool, CheckStop> {
    let Some(href) = record.href(name) else {
        return Ok(false);
    };
    if person.link("self").as_ref() == Some(&href) {
        return Ok(true);
    }
    let answer = api.get(&href).await?;
    Ok(answer.status == 200 && is_one(&answer.record(), person))
}

/// Verifies that an action belongs to a person, and that its container counts it as before.
pub(super) async fn belongs(
    api: &CheckClient<'_>,
    row: &str,
    action: &Action,
    person: &Representation,
) -> Result<(), CheckStop> {
    let (cx, kind) = (api.cx, action.kind);
    let record = api.reread(&action.record).await?;
    let is_linked = links_to(api, &record, "person", person).await?;
    cx.observe(row, is_linked, || {
        format!("{} does not link to {}", record.short(), person.short())
    });
    let of_person = person
        .href(kind.many)
        .filter(|_| cx.declared().lists_below("person", kind.many));
    let of_container = action.container.href(kind.many).filter(|_| {
        cx.declared()
            .lists_below(kind.under.unwrap_or_default(), kind.many)
    });
    for url in of_person.into_iter().chain(of_container) {
        let member = api.find_in(&url, &record).await?;
        cx.observe(row, member.is_some(), || {
            format!("{url} does not contain {}", record.short())
        });
    }
    let (Some(total), Some(path)) = (action.total, kind.counted) else {
        return Ok(());
    };
    api.total_is(&[row], &action.container, path, total).await
}

/// Verifies that the remaining person is in a group once.
async fn only_once(
    api: &CheckClient<'_>,
    container: &Representation,
    one: &str,
    pair: &Pair,
) -> Result<(), CheckStop> {
    let (cx, Some(of)) = (api.cx, kind(one)) else {
        return Ok(());
    };
    let under = of.under.unwrap_or_default();
    for (owner, kind) in [(container, under), (&pair.remaining, "person")] {
        let Some(url) = owner
            .href(of.many)
            .filter(|_| cx.declared().lists_below(kind, of.many))
        else {
            continue;
        };
        let members = api.members(&url).await?;
        cx.observe(ids::MRG_07, members.len() == 1, || {
            format!("{} {} in {url}", members.len(), of.many)
        });
        for member in members {
            let is_linked = links_to(api, &member, "person", &pair.remaining).await?;
            cx.observe(ids::MRG_07, is_linked, || {
                format!("{} does not link to the remaining person", member.short())
            });
        }
    }
    let shown = api.as_read(under, container.clone()).await?;
    match (of.counted, counted(cx, of, &shown)) {
        (Some(path), Some(_)) => api.total_is(&[ids::MRG_07], container, path, 1.0).await,
        _ => Ok(()),
    }
}

/// Verifies the entries of the change feed.
async fn reported(
    api: &CheckClient<'_>,
    cursor: &str,
    pair: &Pair,
    moved: &[Action],
) -> Result<(), CheckStop> {
    let cx = api.cx;
    let mut urls = vec![pair.old.clone(), pair.remaining.self_url()?];
    for action in moved {
        urls.push(action.record.self_url()?);
    }
    let (entries, shown, _) = behind(api, cursor, &urls).await?;
    let is_deletion = |entry: &ObservedEntry| entry.record == 0 && entry.what == "deleted";
    let last = entries.iter().rposition(is_deletion);
    let is_last = last.is_some_and(|last| {
        entries
            .iter()
            .skip(last)
            .all(|one| one.what != "changed" || one.record == 1)
    });
    cx.must(ids::MRG_12, is_last, || {
        format!("the merged person is not deleted last: {entries:?} of {urls:?}")
    })?;
    let before = || entries.iter().take(last.unwrap_or_default());
    for (at, url) in urls.iter().enumerate().skip(1) {
        let is_changed = before().any(|entry| entry.record == at && entry.what == "changed");
        cx.observe(ids::MRG_12, is_changed, || {
            format!("no change of {url} before the deletion of the merged person: {entries:?}")
        });
    }
    let entry = last.and_then(|last| shown.get(last));
    let Some(entry) = entry.filter(|_| cx.declared().behaves("merge_people.forwards")) else {
        return Ok(());
    };
    let target = cx.declared().extension_href(entry, "merged_into");
    let read = match &target {
        Some(target) => Some(api.get(target).await?),
        None => None,
    };
    let is_remaining = read.is_some_and(|read| pair.is_remaining(&read));
    cx.observe(ids::MRG_12, is_remaining, || {
        format!(
            "no link merged_into to the remaining person in {}",
            entry.short()
        )
    });
    Ok(())
}

/// A canvass of the merged person, and one that the merged person made.
async fn canvasses(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let third = created(&api, &named(cx)).await?;
    let call = async |target: &Representation, canvasser: &Representation| {
        let mut canvass = cx.marked(&own_fields(cx, "canvass"));
        put(&mut canvass, "canvasser", canvasser.self_url()?);
        let url = helper_address(target, "record_canvass")?;
        let answer = api.post(&url, &json!({ "canvass": canvass })).await?;
        if answer.is_created() {
            Ok(answer.record())
        } else {
            Err(none(format!("no canvass can be recorded: {answer}")))
        }
    };
    let by = call(&third, &pair.merged).await?;
    let of = call(&pair.merged, &third).await?;
    pair.merge(&api).await?;
    if cx.declared().links("canvass", "canvasser") {
        let read = api.reread(&by).await?;
        let is_linked = links_to(&api, &read, "canvasser", &pair.remaining).await?;
        cx.observe(ids::MRG_26, is_linked, || {
            format!(
                "the canvasser of {} is not the remaining person",
                read.short()
            )
        });
    }
    let Some(url) = pair
        .remaining
        .href("canvasses")
        .filter(|_| cx.declared().lists_below("person", "canvasses"))
    else {
        return Ok(());
    };
    let found = api.find_in(&url, &of).await?;
    cx.observe(ids::MRG_26, found.is_some(), || {
        format!("{url} does not contain {}", of.short())
    });
    if let Some(found) = found.filter(|_| cx.declared().links("canvass", "target")) {
        let is_linked = links_to(&api, &found, "target", &pair.remaining).await?;
        cx.observe(ids::MRG_26, is_linked, || {
            format!(
                "the target of {} is not the remaining person",
                found.short()
            )
        });
    }
    Ok(())
}

/// A ticket of the merged person, which another person bought.
async fn tickets(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let holder =
        own(&pair.merged).ok_or_else(|| none("people have no identifier of the server"))?;
    let event = api.ticketed_event(&part(cx, "event", &ticketed())).await?;
    let title = event.json.pointer("/ticket_levels/0/title").cloned();
    let buyer = api.make("person", &named(cx)).await?;
    let tickets = json!({ "status": "accepted",
        "tickets": [{ "title": title, "person": { "identifiers": [holder] } }] });
    let mut body = cx.marked(&part(cx, "attendance", &tickets));
    // `part` removes what an inline person declares as read-only.
    if let Some(ticket) = body.pointer_mut("/tickets/0") {
        put(ticket, "person", json!({ "identifiers": [holder] }));
    }
    let made = api.act(&event, "attendance", &buyer, &body).await?;
    let before = named_in(&api.reread(&made).await?);
    if !before.iter().any(|one| one == holder) {
        return Err(none(format!(
            "the ticket does not show {holder}: {}",
            made.short()
        )));
    }
    pair.merge(&api).await?;
    let person = api.reread(&pair.remaining).await?;
    let shown = named_in(&api.reread(&made).await?);
    let is_remaining = shown.iter().any(|one| person.carries(one));
    cx.observe(ids::MRG_25, is_remaining, || {
        format!("the ticket names {shown:?}, not {}", person.short())
    });
    if !api.delete(&person.self_url()?).await?.is_removal() {
        return Err(none("the remaining person cannot be deleted"));
    }
    let shown = named_in(&api.reread(&made).await?);
    let is_erased = !shown.iter().any(|one| person.carries(one));
    cx.observe(ids::MRG_25, is_erased, || {
        format!("after the delete of the person, the ticket names {shown:?}")
    });
    Ok(())
}

/// Returns the identifiers in the tickets of an attendance.
fn named_in(attendance: &Representation) -> Vec<String> {
    let tickets = attendance["tickets"].as_array().into_iter().flatten();
    let all = tickets.filter_map(|ticket| ticket.pointer("/person/identifiers")?.as_array());
    all.flatten()
        .filter_map(|one| one.as_str().map(ToOwned::to_owned))
        .collect()
}
