//! Helper action functions (HAF): tags, lists, answers and triggers of a helper request.

use super::helper_calls::{PreparedHelper, declared_helpers, ignored, new_person};
use super::prelude::*;

pub(super) const CHECKS: &[Check] = &[
    check!("haf/every-helper", [HAF_01], everywhere).needs("haf.* and helper.*.but_schedule"),
    check!("haf/add-tags", [HAF_02], members).about("add_tags").needs("haf.add_tags and helper.*.shows_person and tags.create or haf.add_tags and helper.*.shows_person and tags.list"),
    check!("haf/unknown-tag", [HAF_03, ERR_37], unknown_tag).needs("haf.add_tags and helper.*.with_person"),
    check!("haf/add-tags-uri", [HAF_04], members)
        .about("add_tags_uri")
        .needs("haf.add_tags_uri and helper.*.shows_person and tags.create or haf.add_tags_uri and helper.*.shows_person and tags.list"),
    check!("haf/add-lists", [HAF_05], members).about("add_lists").needs("haf.add_lists and helper.*.shows_person and lists.create or haf.add_lists and helper.*.shows_person and lists.list"),
    check!("haf/add-lists-uri", [HAF_06], members)
        .about("add_lists_uri")
        .needs("haf.add_lists_uri and helper.*.shows_person and lists.create or haf.add_lists_uri and helper.*.shows_person and lists.list"),
    check!("haf/triggers", [HAF_01, HAF_11, HAF_12, HAF_13], triggers)
        .needs("haf.triggers and helper.*.but_schedule")
        .has_side_effects(),
];

/// The functions that add a person to a group: function, kind of the group, collection of its
/// members.
const MEMBERSHIPS: &[(&str, &str, &str, &str)] = &[
    ("add_tags", "tag", "taggings", ids::HAF_02),
    ("add_tags_uri", "tag", "taggings", ids::HAF_04),
    ("add_lists", "list", "items", ids::HAF_05),
    ("add_lists_uri", "list", "items", ids::HAF_06),
];

/// Creates a tag, if people can be tagged through a helper and tags can be created.
pub(super) async fn fresh_tag(api: &CheckClient<'_>) -> Result<Option<Representation>, CheckStop> {
    let declared = api.cx.declared();
    if !declared.acts("add_tags")
        || !declared.offers("tag", "create")
        || !declared.lists_below("tag", "taggings")
    {
        return Ok(None);
    }
    let tag = api.make("tag", &json!({})).await?;
    Ok(Some(tag).filter(|tag| tag["name"].is_string()))
}

/// Returns the value of a membership function that adds a person to one group.
fn given(function: &str, container: &Representation) -> Result<Value, CheckStop> {
    if function.ends_with("_uri") {
        return Ok(json!([container.self_url()?]));
    }
    let name = container["name"].as_str();
    name.map(|name| json!([name]))
        .ok_or_else(|| none(format!("no name in {}", container.short())))
}

/// Returns the declared functions except triggers, each with a new value.
pub(super) async fn simple(cx: &CheckContext) -> Result<Vec<(&'static str, Value)>, CheckStop> {
    let api = cx.api();
    let mut functions = Vec::new();
    for (function, one, ..) in MEMBERSHIPS {
        if cx.declared().acts(function) && cx.declared().offers(one, "create") {
            functions.push((
                *function,
                given(function, &api.make(one, &json!({})).await?)?,
            ));
        }
    }
    let function = "add_questions_responses_uri";
    if cx.declared().acts(function) && cx.declared().offers("question", "create") {
        let question = api.make("question", &json!({})).await?;
        functions.push((
            function,
            json!([{"question": question.self_url()?, "responses": ["a1"]}]),
        ));
    }
    Ok(functions)
}

/// Returns the helper with which functions are tested: the first declared and reachable helper that
/// accepts a person.
pub(super) async fn any_helper(api: &CheckClient<'_>) -> Result<PreparedHelper, CheckStop> {
    let mut reason = none("no helper that accepts a person is declared");
    for name in declared_helpers(api.cx)
        .into_iter()
        .filter(|name| *name != "record_canvass")
    {
        match api.ready(name).await {
            Ok(ready) => return Ok(ready),
            Err(stop) => reason = stop,
        }
    }
    Err(reason)
}

/// One helper request with functions.
pub(super) struct FunctionCall {
    pub(super) answer: TestResponse,
    /// The person of the request. `None` if nothing was created.
    pub(super) person: Option<Representation>,
}

pub(super) async fn call(
    cx: &CheckContext,
    ready: &PreparedHelper,
    functions: &Value,
) -> Result<FunctionCall, CheckStop> {
    let api = cx.api();
    let person = new_person(cx);
    let mut body = ready.body(cx, Some(&person));
    for (name, value) in functions.as_object().into_iter().flatten() {
        put(&mut body, name, value.clone());
    }
    let answer = api.post(&ready.url, &body).await?;
    if answer.is_created() {
        let person = api.about(ready, &answer.record()).await?;
        return Ok(FunctionCall {
            answer,
            person: Some(person),
        });
    }
    Ok(FunctionCall {
        answer,
        person: None,
    })
}

/// Returns the members of a collection of a person or container.
pub(super) async fn below(
    api: &CheckClient<'_>,
    record: &Representation,
    many: &str,
) -> Result<Vec<Representation>, CheckStop> {
    api.members(&record.require_link(many)?).await
}

/// Whether one of the members refers to a record, by its link. Only known if the link is declared.
pub(super) async fn about(
    api: &CheckClient<'_>,
    members: &[Representation],
    one: &str,
    name: &str,
    to: &Representation,
) -> Result<Option<bool>, CheckStop> {
    if !api.cx.declared().links(one, name) || !api.cx.declared().offers(name, "read") {
        return Ok(None);
    }
    for member in members {
        let Some(href) = member.href(name) else {
            continue;
        };
        let answer = api.get(&href).await?;
        if answer.status == 200 && is_one(&answer.record(), to) {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

/// Verifies the effect of a membership function: the person and the group each have one member,
/// which links to both.
async fn joined(
    cx: &CheckContext,
    row: &str,
    member: (&str, &str),
    person: &Representation,
    containers: &[Representation],
) -> Result<(), CheckStop> {
    let (one, many) = member;
    let api = cx.api();
    let kind = crate::kinds::kind(one);
    let under = kind.and_then(|kind| kind.under).unwrap_or_default();
    if cx.declared().lists_below("person", many) {
        let members = below(&api, person, many).await?;
        cx.must(row, members.len() == containers.len(), || {
            format!(
                "{many} of the person: {} instead of {}: {}",
                members.len(),
                containers.len(),
                person.short()
            )
        })?;
        for container in containers {
            let found = about(&api, &members, one, under, container).await?;
            if let Some(found) = found {
                cx.observe(row, found, || {
                    format!(
                        "none of the {many} of the person links to {}",
                        container.short()
                    )
                });
            }
        }
    }
    // An existing container can have many other members.
    let is_new = cx.declared().offers(under, "create");
    if cx.declared().lists_below(under, many)
        && (is_new || !cx.declared().lists_below("person", many))
    {
        for container in containers {
            let members = below(&api, container, many).await?;
            cx.must(row, members.len() == 1 || !is_new, || {
                format!("{many} of {}: {}", container.short(), members.len())
            })?;
            if let Some(found) = about(&api, &members, one, "person", person).await? {
                cx.observe(row, found, || {
                    format!("{many} of {} do not link to the person", container.short())
                });
            }
        }
    }
    Ok(())
}

/// Names or URLs of tags or lists: one membership for each.
///
/// Requirements: HAF-02, HAF-04, HAF-05, HAF-06.
async fn members(cx: &CheckContext) -> Result<(), CheckStop> {
    let found = MEMBERSHIPS
        .iter()
        .find(|(function, ..)| *function == cx.check.subject);
    let Some((function, one, many, row)) = found else {
        return Ok(());
    };
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let mut containers = Vec::new();
    let mut values = Vec::new();
    // Of a kind that cannot be created, there may be only one record.
    let count = if cx.declared().offers(one, "create") {
        3
    } else {
        1
    };
    for _ in 0..count {
        let container = api.make(one, &json!({})).await?;
        values.extend(
            given(function, &container)?
                .as_array()
                .cloned()
                .unwrap_or_default(),
        );
        containers.push(container);
    }
    let called = call(cx, &ready, &json!({ *function: values })).await?;
    cx.must(row, called.person.is_some(), || called.answer.to_string())?;
    let Some(person) = called.person else {
        return Ok(());
    };
    let member = if *one == "tag" { "tagging" } else { "item" };
    joined(cx, row, (member, many), &person, &containers).await?;
    let Some(name) = values.first().filter(|_| cx.cases(0, 1, 1) > 0) else {
        return Ok(());
    };
    // A repeated name should add one membership. A server may reject it.
    let called = call(cx, &ready, &json!({ *function: [name, name] })).await?;
    let Some(person) = called
        .person
        .filter(|_| cx.declared().lists_below("person", many))
    else {
        return Ok(());
    };
    let members = below(&api, &person, many).await?;
    cx.prefers(row, members.len() == 1, || {
        format!(
            "{many} of a person to whom {name} was added twice: {}",
            members.len()
        )
    });
    Ok(())
}

/// A name without a tag fails for that tagging, with code and property. No tag is created.
///
/// Requirements: HAF-03, ERR-37.
async fn unknown_tag(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = any_helper(&api).await?;
    let name = format!("no such tag {}", cx.unique());
    let counted = cx.declared().offers("tag", "list");
    let tags = if counted {
        Some(api.collection("tags").await?)
    } else {
        None
    };
    let before = match &tags {
        Some(tags) => api.total(tags).await?,
        None => None,
    };
    let person = new_person(cx);
    let mut body = ready.body(cx, Some(&person));
    // In addition to an existing tag, if one can be created.
    let known = fresh_tag(&api).await?.map(|tag| tag["name"].clone());
    put(
        &mut body,
        "add_tags",
        known.into_iter().chain([json!(name)]).collect::<Value>(),
    );
    let answer = api.post(&ready.url, &body).await?;
    note_rest(&api, &ready, &answer, &body, &person).await?;
    holds(
        cx,
        &[ids::HAF_03, ids::ERR_37],
        answer.refuses("TAG_NAME_DOES_NOT_EXIST", "add_tags"),
        || format!("an unknown tag: {answer}"),
    );
    if let Some(tags) = tags {
        let created = api
            .has_grown_by(&tags, before, |tag| tag["name"] == *name)
            .await?;
        cx.observe(ids::HAF_03, !created, || {
            format!("the tag `{name}` was created")
        });
    }
    let kind = answer
        .error()
        .and_then(|error| error["request_type"].as_str())
        .unwrap_or("none");
    cx.chose("a helper that fails in part", kind);
    if cx.declared().acts("add_lists") {
        // The code is specific to the server, but not that of a tag.
        let mut body = ready.body(cx, Some(&person));
        put(&mut body, "add_lists", json!([name]));
        let answer = api.post(&ready.url, &body).await?;
        note_rest(&api, &ready, &answer, &body, &person).await?;
    }
    Ok(())
}

/// Records for clean-up what a partly failed helper request created.
pub(super) async fn note_rest(
    api: &CheckClient<'_>,
    ready: &PreparedHelper,
    answer: &TestResponse,
    body: &Value,
    person: &Value,
) -> Result<(), CheckStop> {
    if answer.is_created() {
        return api
            .about(ready, &answer.record())
            .await
            .map(drop)
            .or_else(ignored);
    }
    let shown = answer.json.get(api.cx.declared().rel("person"));
    if let Some(shown) = shown {
        super::record_comparison::adopt(api.cx, &answer.document.beside(shown.clone()));
    }
    let sent = |json: &Value| answer.document.beside(json.clone());
    let Some(url) = ready
        .container
        .as_ref()
        .and_then(|container| container.href(ready.kind.many))
    else {
        return Ok(());
    };
    if let Ok(Some(made)) = api.find_in(&url, &sent(body)).await {
        super::record_comparison::adopt(api.cx, &made);
        if shown.is_none() && made.href("person").is_some() && !person.is_null() {
            drop(api.person_of(&made, "person").await);
        }
    }
    Ok(())
}

/// Every declared function in every declared helper.
///
/// Requirements: HAF-01.
async fn everywhere(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx) => on_helper(cx, name))
}

async fn on_helper(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    for (function, one, many, _) in MEMBERSHIPS
        .iter()
        .filter(|(function, ..)| cx.declared().acts(function))
    {
        let is_new = cx.declared().offers(one, "create");
        if !is_new && !cx.declared().offers(one, "list") {
            continue;
        }
        let container = api.make(one, &json!({})).await?;
        let called = call(
            cx,
            &ready,
            &json!({ *function: given(function, &container)? }),
        )
        .await?;
        cx.must(ids::HAF_01, called.person.is_some(), || {
            format!("{function} on {name}: {}", called.answer)
        })?;
        let Some(person) = called.person else {
            continue;
        };
        if cx.declared().lists_below(one, many) && is_new {
            let found = below(&api, &container, many).await?;
            cx.must(ids::HAF_01, found.len() == 1, || {
                format!("{function} on {name}: {many} of {}", container.short())
            })?;
        } else if cx.declared().lists_below("person", many) {
            let found = below(&api, &person, many).await?;
            cx.must(ids::HAF_01, !found.is_empty(), || {
                format!("{function} on {name}: {many} of {}", person.short())
            })?;
        }
    }
    let function = "add_questions_responses_uri";
    if cx.declared().acts(function) && cx.declared().offers("question", "create") {
        let question = api.make("question", &json!({})).await?;
        let element = json!([{"question": question.self_url()?, "responses": ["a1"]}]);
        let called = call(cx, &ready, &json!({ function: element })).await?;
        cx.must(ids::HAF_01, called.person.is_some(), || {
            format!("{function} on {name}: {}", called.answer)
        })?;
        if cx.declared().lists_below("question", "answers") {
            let found = below(&api, &question, "answers").await?;
            cx.must(ids::HAF_01, found.len() == 1, || {
                format!("{function} on {name}: answers of {}", question.short())
            })?;
        }
    }
    Ok(())
}

/// Every helper accepts triggers, enabled or not. Their identifiers are not stored in any record.
///
/// Requirements: HAF-11 to HAF-13.
async fn triggers(cx: &CheckContext) -> Result<(), CheckStop> {
    each!((at, name) in declared_helpers(cx).into_iter().enumerate() => trigger(cx, name, at))
}

async fn trigger(cx: &CheckContext, name: &'static str, at: usize) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    for member in ["autoresponse", "sms_response", "call_response"] {
        for enabled in [false, true] {
            let identifier = format!("mailer:{}", cx.unique());
            let functions =
                json!({"triggers": {member: {"enabled": enabled, "identifiers": [identifier]}}});
            let called = call(cx, &ready, &functions).await?;
            holds(
                cx,
                &[ids::HAF_01, ids::HAF_11, ids::HAF_12, ids::HAF_13],
                called.answer.is_created(),
                || format!("{member} {enabled}: {}", called.answer),
            );
            let made = called.answer.record();
            let read = match made.link("self") {
                Some(_) if cx.declared().offers(ready.kind.one, "read") => {
                    Some(api.reread(&made).await?)
                }
                _ => None,
            };
            for record in [Some(made), called.person, read].into_iter().flatten() {
                cx.observe(ids::HAF_13, !record.carries(&identifier), || {
                    format!("{identifier} is in {}", record.short())
                });
            }
            // Every member in every helper would only repeat the same result.
            if at > 0 {
                break;
            }
        }
    }
    if at > 0 || !cx.declared().behaves("validates_types") {
        return Ok(());
    }
    let person = new_person(cx);
    let mut body = ready.body(cx, Some(&person));
    put(
        &mut body,
        "triggers",
        json!({"autoresponse": {"enabled": "perhaps"}}),
    );
    let answer = api.post(&ready.url, &body).await?;
    note_rest(&api, &ready, &answer, &body, &person).await?;
    cx.observe(ids::HAF_12, answer.status == 400, || {
        format!("enabled is not a boolean: {answer}")
    });
    Ok(())
}
