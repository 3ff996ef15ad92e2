//! Collections: paging, totals, members, and the collections below a record.

use std::collections::HashMap;

use serde_json::{Map, Value};
use svc_conformance::ids;

use super::table::MutationStep::{Add, Done, Drop, Empty, Has, Is, Keep, Not, Reverse, Set};
use super::table::MutationTarget::{Answers, Members, Pages};
use super::table::TriggerRequest::{Any, Collection, Record};
use super::table::{MutationRow, line, table};
use super::{BaseServer, Mutant, add, links, members, set};
use crate::independent_server::ServerOptions;
use crate::interceptor::Interceptor;
use crate::link_map::{self, LinkMap, ResourceKind};
use crate::transport::{self, BufferedRequest, BufferedResponse};

const FAMILY: &str = "paging";

/// The collections below a record: its kind, the collection, the members' kind, and the
/// requirement.
const NESTED: [(&str, &str, &str); 15] = [
    ("petition", "signatures", ids::COL_04),
    ("form", "submissions", ids::COL_05),
    ("fundraising_page", "donations", ids::COL_06),
    ("advocacy_campaign", "outreaches", ids::COL_07),
    ("event", "attendances", ids::COL_08),
    ("question", "answers", ids::COL_09),
    ("submission", "answers", ids::COL_10),
    ("person", "donations", ids::COL_11),
    ("person", "submissions", ids::COL_12),
    ("person", "attendances", ids::COL_13),
    ("person", "signatures", ids::COL_14),
    ("person", "outreaches", ids::COL_15),
    ("person", "answers", ids::COL_16),
    ("person", "taggings", ids::COL_17),
    ("person", "items", ids::COL_18),
];

/// A change to every page.
fn page(name: &'static str, rows: &[&str], change: fn(&mut Map<String, Value>)) -> Mutant {
    Mutant::new(FAMILY, name, rows, move || {
        Interceptor::pages(move |_, page, _| change(page))
    })
}

/// Limits pages to a few members, so that there are several pages.
fn small(options: &mut ServerOptions) {
    options.per_page = 2;
}

/// Returns the number of a page.
fn number(page: &Map<String, Value>, name: &str) -> u64 {
    page.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Returns the links to the members, an array.
fn member_links(page: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    links(page)?
        .iter_mut()
        .filter(|(rel, _)| *rel != "curies")
        .find_map(|(_, link)| link.as_array_mut())
}

/// Removes the last member of a page, with its link.
fn shorten(page: &mut Map<String, Value>) {
    members(page).and_then(Vec::pop);
    member_links(page).and_then(Vec::pop);
}

const FEW: BaseServer = BaseServer::SecondServer(small);

const PAGES: &[MutationRow] = &[
    line(
        "one record too many is counted",
        "COL-23 COL-20",
        Pages("*"),
        &[Add("total_records", 1)],
    ),
    line(
        "no count of pages",
        ids::COL_20,
        Pages("*"),
        &[Drop("total_pages")],
    ),
    line("no page number", ids::COL_22, Pages("*"), &[Drop("page")]),
    line(
        "the links to members are in another order",
        ids::COL_25,
        Pages("*"),
        &[Reverse("_links.*")],
    )
    .on_reference(),
    line(
        "pages without self",
        ids::COL_27,
        Pages("*"),
        &[Drop("_links.self")],
    ),
    line(
        "pages are counted from nought",
        ids::COL_22,
        Pages("*"),
        &[Add("page", -1)],
    ),
    line(
        "every page is the first",
        ids::COL_22,
        Pages("*"),
        &[Set("page", "1")],
    )
    .over(FEW),
    line(
        "fewer members a page than shown",
        "COL-21 COL-20",
        Pages("*"),
        &[Set("per_page", "0")],
    ),
    line(
        "more members a page than the limit",
        "COL-21 LIM-01",
        Pages("*"),
        &[Set("per_page", "1000")],
    )
    .on_reference(),
    line(
        "members a page are a text",
        ids::COL_21,
        Pages("*"),
        &[Set("per_page", "\"20\"")],
    ),
    line(
        "an empty collection is not found",
        ids::COL_30,
        Answers("*", Any),
        &[Is("total_records", "0"), Empty(404)],
    ),
    line(
        "an empty collection is without content",
        ids::COL_30,
        Answers("*", Any),
        &[Is("total_records", "0"), Empty(204)],
    )
    .on_reference(),
    line(
        "an empty collection shows null",
        ids::COL_30,
        Pages("*"),
        &[Is("total_records", "0"), Set("_embedded", "[null]")],
    ),
    line(
        "a collection with records is without content",
        "COL-31 COL-01",
        Answers("GET", Collection("*")),
        &[Done, Not("total_records", "0"), Empty(204)],
    ),
    line(
        "a record is not found by its address",
        "COL-03 ERR-10 CRU-22 HAL-16",
        Answers("GET", Record("tag")),
        &[Empty(404)],
    ),
    line(
        "a record alone has no fields",
        "COL-03 HAL-17 CRU-*",
        Answers("GET", Record("*")),
        &[Has("identifiers"), Keep("", &["_links", "identifiers"])],
    ),
];

const MEMBERS: &[MutationRow] = &[
    line(
        "members are shortened",
        ids::COL_28,
        Members("*"),
        &[Keep(
            "",
            &[
                "_links",
                "identifiers",
                "created_date",
                "modified_date",
                "id",
                "question_type",
            ],
        )],
    ),
    line(
        "members are without dates",
        "COL-28 TYP-15 TYP-16",
        Members("*"),
        &[Drop("modified_date")],
    )
    .on_reference(),
    line(
        "no embedded members",
        "COL-28 COL-31 COL-22 COL-23",
        Pages("*"),
        &[Drop("_embedded")],
    ),
];

#[expect(clippy::too_many_lines, reason = "a table of faults")]
pub(super) fn faults() -> Vec<Mutant> {
    let small = |fault: Mutant| fault.over(BaseServer::SecondServer(small));
    let mut faults = vec![
        page(
            "one record is not counted",
            &[ids::COL_23, ids::COL_20],
            |page| {
                if number(page, "total_records") > 1 {
                    add(page, "total_records", -1);
                }
            },
        )
        .on_reference(),
        page("records are counted in a text", &[ids::COL_23], |page| {
            let total = number(page, "total_records").to_string();
            set(page, "total_records", total);
        }),
        page("one page too many is counted", &[ids::COL_20], |page| {
            if number(page, "total_records") > 0 {
                add(page, "total_pages", 1);
            }
        }),
        small(page(
            "the last page is not counted",
            &[ids::COL_20],
            |page| {
                let pages = number(page, "total_records") / number(page, "per_page").max(1);
                set(page, "total_pages", pages);
            },
        )),
        small(page(
            "no link to the next page",
            &[ids::COL_24, ids::COL_23, ids::COL_20],
            |page| {
                drop(links(page).and_then(|links| links.remove("next")));
            },
        )),
        small(page(
            "a next page after the last",
            &[ids::COL_24, ids::COL_20],
            |page| {
                let Some(links) = links(page) else { return };
                let own = links.get("self").cloned();
                if let (false, Some(own)) = (links.contains_key("next"), own) {
                    links.insert("next".to_owned(), own);
                }
            },
        )),
        small(Mutant::new(
            FAMILY,
            "the page after the next is the next",
            &[ids::COL_24, ids::COL_23],
            || {
                Interceptor::pages(|_, page, _| {
                    let number = number(page, "page").saturating_add(1);
                    let next = links(page).and_then(|links| links.get_mut("next")?.get_mut("href"));
                    if let Some(Value::String(href)) = next {
                        *href = href.replace(
                            &format!("page={number}"),
                            &format!("page={}", number.saturating_add(1)),
                        );
                    }
                })
            },
        )),
        small(Mutant::new(
            FAMILY,
            "the next page under another parameter",
            &[ids::COL_24],
            || {
                Interceptor::before(|call, _| {
                    let address = call.uri.to_string();
                    if address.contains("?from=") {
                        call.redirect(&address.replace("?from=", "?page="));
                    }
                    None
                })
                .and_after(|_, answer, sight| {
                    let Some(Value::Object(mut page)) = answer.json() else {
                        return;
                    };
                    let _ = sight;
                    if let Some(Value::String(href)) =
                        links(&mut page).and_then(|links| links.get_mut("next")?.get_mut("href"))
                    {
                        *href = href.replace("?page=", "?from=");
                        answer.set_json(&Value::Object(page));
                    }
                })
            },
        )),
        small(Mutant::new(
            FAMILY,
            "every page shows the first",
            &[ids::COL_24, ids::COL_22, ids::COL_23],
            || {
                Interceptor::before(|call, _| {
                    let address = call.uri.to_string();
                    if let Some((path, _)) = address.split_once("?page=") {
                        call.redirect(path);
                    }
                    None
                })
            },
        )),
        small(page(
            "a member between pages is skipped",
            &[ids::COL_24, ids::COL_23],
            |page| {
                if number(page, "page") == 1
                    && number(page, "total_records") > number(page, "per_page")
                {
                    shorten(page);
                }
            },
        )),
        small(Mutant::new(
            FAMILY,
            "a member is on two pages",
            &[ids::COL_24, ids::COL_23],
            || {
                let mut last: HashMap<String, (Value, Value)> = HashMap::new();
                Interceptor::pages(move |call, page, _| {
                    let path = call.uri.path().to_owned();
                    let pair = (
                        members(page).and_then(|members| members.last().cloned()),
                        member_links(page).and_then(|links| links.last().cloned()),
                    );
                    if number(page, "page") > 1
                        && let Some((member, link)) = last.get(&path)
                    {
                        if let Some(first) = members(page).and_then(|members| members.first_mut()) {
                            *first = member.clone();
                        }
                        if let Some(first) = member_links(page).and_then(|links| links.first_mut())
                        {
                            *first = link.clone();
                        }
                    }
                    if let (Some(member), Some(link)) = pair {
                        last.insert(path, (member, link));
                    }
                })
            },
        )),
        page("one link to a member is missing", &[ids::COL_25], |page| {
            drop(member_links(page).and_then(Vec::pop));
        }),
        page(
            "the link of a single member is not an array",
            &[ids::COL_25, ids::HAL_13],
            |page| {
                let Some(links) = links(page) else { return };
                for (rel, link) in links.iter_mut().filter(|(rel, _)| *rel != "curies") {
                    let one = link
                        .as_array()
                        .filter(|list| list.len() == 1)
                        .and_then(|list| list.first())
                        .cloned();
                    if let (true, Some(one)) = (rel.contains(':'), one) {
                        *link = one;
                    }
                }
            },
        ),
        page("no links to members", &[ids::COL_25, ids::HAL_08], |page| {
            if let Some(links) = links(page) {
                links.retain(|rel, _| !rel.contains(':'));
            }
        }),
        small(page(
            "self is always the first page",
            &[ids::COL_27],
            |page| {
                if let Some(Value::String(href)) =
                    links(page).and_then(|links| links.get_mut("self")?.get_mut("href"))
                    && let Some((path, _)) = href.clone().split_once('?')
                {
                    path.clone_into(href);
                }
            },
        )),
        page("self links to a member", &[ids::COL_27], |page| {
            if let Some(first) = member_links(page).and_then(|links| links.first().cloned())
                && let Some(links) = links(page)
            {
                links.insert("self".to_owned(), first);
            }
        }),
        Mutant::new(
            "embedded",
            "members are as they were created",
            &[ids::COL_28],
            || {
                let mut first: HashMap<String, Value> = HashMap::new();
                Interceptor::pages(move |_, page, _| {
                    for member in members(page).into_iter().flatten() {
                        let Some(own) = member.pointer("/_links/self/href").and_then(Value::as_str)
                        else {
                            continue;
                        };
                        let known = first
                            .entry(own.to_owned())
                            .or_insert_with(|| member.clone());
                        *member = known.clone();
                    }
                })
            },
        ),
        Mutant::new(
            FAMILY,
            "a collection is a bare array",
            &[ids::COL_01, ids::HAL_02, ids::HAL_07],
            || {
                Interceptor::after(|_, answer, _| {
                    let Some(Value::Object(mut page)) = answer.json() else {
                        return;
                    };
                    if let Some(members) = members(&mut page) {
                        let members = Value::Array(members.clone());
                        answer.set_json(&members);
                    }
                })
            },
        ),
        Mutant::new(
            FAMILY,
            "every seventh page is an old one",
            &[ids::COL_23, ids::CRU_22, "COL-*"],
            || {
                let mut old: HashMap<String, BufferedResponse> = HashMap::new();
                let mut count = 0_u32;
                Interceptor::after(move |call, answer, sight| {
                    if call.method != "GET"
                        || !matches!(sight.what(call), Some(ResourceKind::Collection(_)))
                    {
                        return;
                    }
                    count = count.wrapping_add(1);
                    let known = old.entry(call.address()).or_insert_with(|| answer.clone());
                    if count.is_multiple_of(7) {
                        *answer = known.clone();
                    } else {
                        *known = answer.clone();
                    }
                })
            },
        )
        .on_reference(),
        Mutant::new(
            FAMILY,
            "the total is counted once",
            &[ids::COL_23, ids::COL_20],
            || {
                let mut first: HashMap<String, Value> = HashMap::new();
                Interceptor::pages(move |call, page, _| {
                    if let Some(total) = page.get("total_records").cloned() {
                        let known = first
                            .entry(call.uri.path().to_owned())
                            .or_insert(total)
                            .clone();
                        set(page, "total_records", known);
                    }
                })
            },
        )
        .on_reference(),
    ];
    faults.extend(table(FAMILY, PAGES));
    faults.extend(table("embedded", MEMBERS));
    faults.extend(NESTED.map(nested));
    faults.extend(FIELDS.map(lacking));
    faults.extend(
        [
            "donation",
            "outreach",
            "answer",
            "attendance",
            "submission",
            "signature",
        ]
        .map(uncounted),
    );
    faults.extend(
        [
            "donation",
            "outreach",
            "attendance",
            "submission",
            "canvass",
        ]
        .map(counted_again),
    );
    // An answer is not required to link its submission.
    faults.extend(
        NESTED
            .iter()
            .filter(|(owner, ..)| !matches!(*owner, "person" | "submission"))
            .copied()
            .map(backlink),
    );
    faults
}

/// Fields that are missing in members of a collection: the owner of the collection (empty for the
/// entry point), the kind of the members, and the field.
const FIELDS: [(&str, &str, &str); 20] = [
    ("", "person", "custom_fields"),
    ("", "event", "location"),
    ("", "share_page", "share_options"),
    ("", "question", "responses"),
    ("", "form", "summary"),
    ("", "fundraising_page", "browser_url"),
    ("", "advocacy_campaign", "targets"),
    ("", "tag", "description"),
    ("", "message", "subject"),
    ("petition", "signature", "comments"),
    ("form", "submission", "referrer_data"),
    ("fundraising_page", "donation", "recipients"),
    ("advocacy_campaign", "outreach", "targets"),
    ("event", "attendance", "comment"),
    ("question", "answer", "responses"),
    ("tag", "tagging", "origin_system"),
    ("person", "signature", "comments"),
    ("person", "donation", "payment"),
    ("person", "attendance", "referrer_data"),
    ("person", "canvass", "status_code"),
];

/// Returns whether a request is for a collection below a record of this kind, or of the entry point
/// if there is no kind.
fn is_below(call: &BufferedRequest, sight: &LinkMap, owner: &str) -> bool {
    let own = sight.nested.get(&call.address());
    own.map_or("", |(own, _)| sight.kind_at(own).unwrap_or_default()) == owner
}

/// Removes a field from the members of a collection.
fn lacking((owner, kind, field): (&'static str, &'static str, &'static str)) -> Mutant {
    let place = if owner.is_empty() {
        String::new()
    } else {
        format!(" of a {owner}")
    };
    Mutant::new(
        "embedded",
        format!("each {kind}{place} is listed without {field}"),
        &[ids::COL_28],
        move || {
            Interceptor::pages(move |call, page, sight| {
                if sight.what(call) == Some(ResourceKind::Collection(kind))
                    && is_below(call, sight, owner)
                {
                    for member in members(page)
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_object_mut)
                    {
                        member.remove(field);
                    }
                }
            })
        },
    )
}

/// Collections below a record that count deleted members.
fn uncounted(kind: &'static str) -> Mutant {
    counts(
        kind,
        format!("a deleted {kind} is counted below its record"),
        "DELETE",
    )
}

/// Collections below a record that count changed members twice.
fn counted_again(kind: &'static str) -> Mutant {
    counts(
        kind,
        format!("a changed {kind} is counted twice below its record"),
        "PUT",
    )
}

/// Collections below a record whose total grows by one with each write by a method to one of their
/// members.
fn counts(kind: &'static str, name: String, method: &'static str) -> Mutant {
    Mutant::new("nested collection", name, &[ids::COL_23], move || {
        let mut listed: HashMap<String, Vec<String>> = HashMap::new();
        let mut more: HashMap<String, u64> = HashMap::new();
        Interceptor::after(move |call, answer, sight| {
            if call.method == method && answer.is_success() {
                let own = call.address();
                for (place, _) in listed.iter().filter(|(_, owns)| owns.contains(&own)) {
                    let count = more.entry(place.clone()).or_default();
                    *count = count.saturating_add(1);
                }
                return;
            }
            let Some(Value::Object(mut page)) = answer.json() else {
                return;
            };
            if sight.what(call) != Some(ResourceKind::Collection(kind))
                || is_below(call, sight, "")
                || call.method != "GET"
            {
                return;
            }
            let owns = members(&mut page)
                .into_iter()
                .flatten()
                .filter_map(|one| one.as_object());
            let owns = owns
                .filter_map(|one| link_map::href(one, "self"))
                .map(transport::address)
                .collect();
            listed.insert(call.address(), owns);
            let total = number(&page, "total_records")
                .saturating_add(more.get(&call.address()).copied().unwrap_or(0));
            set(&mut page, "total_records", total);
            answer.set_json(&Value::Object(page));
        })
    })
}

/// A collection below a record that stays empty.
fn nested((owner, name, row): (&'static str, &'static str, &'static str)) -> Mutant {
    Mutant::new(
        "nested collection",
        format!("{name} of a {owner} stay empty"),
        &[row],
        move || {
            Interceptor::pages(move |call, page, sight| {
                let own = sight
                    .nested
                    .get(&call.address())
                    .filter(|(_, link)| link == name);
                let is_owner = own.is_some_and(|(own, _)| sight.kind_at(own) == Some(owner));
                if !is_owner {
                    return;
                }
                while members(page).is_some_and(|members| !members.is_empty()) {
                    shorten(page);
                }
                set(page, "total_records", 0);
                set(page, "total_pages", 0);
            })
        },
    )
}

/// A collection whose members link back to another record.
fn backlink((owner, name, row): (&'static str, &'static str, &'static str)) -> Mutant {
    let kind = link_map::NAMES
        .iter()
        .find(|(_, many)| *many == name)
        .map_or("", |(one, _)| *one);
    Mutant::new(
        "nested collection",
        format!("{name} of a {owner} link to another one"),
        &[row, "RES-*", "CRU-*", ids::HAL_15],
        move || {
            Interceptor::records(kind, move |record, sight| {
                let rel = sight.rel(owner);
                if let Some(Value::String(href)) =
                    links(record).and_then(|links| links.get_mut(&rel)?.get_mut("href"))
                {
                    href.push_str("9x");
                }
            })
        },
    )
}
