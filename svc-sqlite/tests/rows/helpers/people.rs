//! People in helpers: the inline person, matching, strangers, the sign-up.

use serde_json::{Value, json};
use svc_conformance::row;

use super::{fields, helper, with_person};
use crate::client::own;
use crate::fields::Shape;
use crate::fixture::Fixture;
use crate::kinds::{ACTIONS, unique};
use crate::values::{same, valid};

pub(super) fn inline_person(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let full = valid("person", "", &Shape::Object, 0).into_iter().next().expect("a person");
    for (round, (one, under, name)) in ACTIONS.iter().enumerate() {
        let mut person = full.clone();
        person["email_addresses"] =
            json!([{"address": format!("inline{round}@example.org"), "primary": true, "status": "subscribed"}]);
        let (_, address) = helper(api, under, name);
        let made = api.post(&address, &with_person(&fields(one), person.clone())).ok();
        let read = api.follow(&made, "person");
        row!(ledger, "HLP-03", same(&person, &read, false), "sent {person}, got {read}");
        let bad = with_person(
            &fields(one),
            json!({"email_addresses": [{"address": "a@example.org", "status": "sometimes"}], "gender": 7}),
        );
        let reply = api.post(&address, &bad);
        let named = reply.refuses("FIELD_INVALID", "person.gender")
            && reply.refuses("FIELD_INVALID", "person.email_addresses[0].status");
        row!(ledger, "HLP-03", named && reply.error()["request_type"] == "atomic", "{reply}");
    }
}

pub(super) fn matching(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let (petition, address) = helper(api, "petition", "record_signature_helper");
    let post = |person: Value| api.follow(&api.post(&address, &json!({ "person": person })).ok(), "person");
    let first = post(json!({"given_name": "Ada", "source": "first", "birthdate": {"year": 1990},
        "email_addresses": [{"address": "Ada.Match@example.org", "primary": true, "status": "subscribed"}],
        "phone_numbers": [{"number": "15550100101"}]}));
    let again = post(
        json!({"given_name": "Ada", "family_name": "Match", "source": "second", "birthdate": {"month": 5},
        "email_addresses": [{"address": "ada.match@EXAMPLE.org", "status": "unsubscribed"}, {"address": "two@example.org", "primary": true}],
        "phone_numbers": []}),
    );
    row!(ledger, "HLP-04", own(&first) == own(&again), "matched by e-mail without case: {again}");
    row!(ledger, "HLP-04", again["source"] == "second" && again["family_name"] == "Match", "{again}");
    row!(ledger, "HLP-04", again["birthdate"] == json!({"year": 1990, "month": 5}), "{again}");
    let mails = again["email_addresses"].as_array().expect("addresses");
    let statuses: Vec<_> = mails.iter().map(|mail| &mail["status"]).collect();
    row!(ledger, "HLP-04", mails.len() == 2 && *statuses.first().expect("one") == "unsubscribed", "{again}");
    let primaries = mails.iter().filter(|mail| mail["primary"] == true).count();
    row!(
        ledger,
        "RES-email_address-02",
        primaries == 1 && mails.get(1).is_some_and(|mail| mail["primary"] == true),
        "{again}"
    );
    row!(ledger, "HLP-04", again["phone_numbers"] == first["phone_numbers"], "an empty array changes nothing: {again}");
    let id = unique("crm:match");
    let by_id = post(json!({"identifiers": [id], "given_name": "Ida"}));
    let same_id = post(json!({"identifiers": [id], "email_addresses": [{"address": "ada.match@example.org"}]}));
    row!(
        ledger,
        "HLP-04",
        own(&by_id) == own(&same_id) && own(&by_id) != own(&first),
        "an identifier goes before an address"
    );
    row!(ledger, "HLP-04", api.total(&api.href(&petition, "signatures")) == 4);
    let signup = api.post(
        &api.href(&api.entry(), "person_signup_helper"),
        &json!({"person": {"email_addresses": [{"address": "two@example.org"}]}}),
    );
    row!(ledger, "HLP-04", own(&signup.ok()) == own(&first), "the sign-up matches too");
}

/// A call without a key fills what is empty and appends, and overwrites nothing.
pub(super) fn matching_without_key(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let person = api.create(
        "people",
        &json!({"given_name": "Ada", "source": "ours",
        "email_addresses": [{"address": "calm@example.org", "primary": true, "status": "unsubscribed"}]}),
    );
    let (petition, address) = helper(api, "petition", "record_signature_helper");
    let body = json!({"person": {"given_name": "Mallory", "family_name": "Filled",
        "email_addresses": [{"address": "CALM@example.org", "status": "subscribed"}, {"address": "new@example.org", "primary": true}]}});
    let reply = api.anonymous().post(&address, &body);
    row!(ledger, "HLP-07", reply.status == 200 && reply.text() == "{}", "{reply}");
    let after = api.reread(&person);
    row!(ledger, "HLP-04", after["given_name"] == "Ada" && after["family_name"] == "Filled", "{after}");
    row!(ledger, "HLP-04", after["email_addresses"][0]["status"] == "unsubscribed", "{after}");
    row!(ledger, "HLP-04", after["email_addresses"][1]["address"] == "new@example.org", "{after}");
    let signature = api.members(&api.href(&petition, "signatures"));
    row!(ledger, "HLP-07", signature.len() == 1 && api.href(signature.first().expect("one"), "person") == own(&person));
}

/// Anonymous answers for a known and an unknown address are equal but for dates and references.
pub(super) fn strangers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let none = api.anonymous();
    api.create("people", &json!({"email_addresses": [{"address": "known@example.org"}]}));
    for (one, under, name) in ACTIONS {
        let (_, address) = helper(api, under, name);
        for tags in [json!([]), json!([unique("no-such-tag")])] {
            let ask = |mail: &str| {
                let mut body = with_person(&fields(one), json!({"email_addresses": [{"address": mail}]}));
                body["add_tags"] = tags.clone();
                let reply = none.post(&address, &body);
                (reply.status, reply.body, reply.headers)
            };
            let known = ask("known@example.org");
            let unknown = ask(&format!("{}@example.org", unique("unknown")));
            row!(ledger, "HLP-07", known == unknown, "{name}: {known:?} {unknown:?}");
        }
    }
}

pub(super) fn signup(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let address = api.href(&api.entry(), "person_signup_helper");
    let made = api.post(&address, &json!({"person": {"given_name": "Ada"}})).ok();
    row!(ledger, "HLP-19", made["given_name"] == "Ada" && api.reread(&made) == made, "{made}");
    row!(ledger, "HLP-20", made["id"].as_str().is_some_and(|id| own(&made).ends_with(id)), "{made}");
    for name in ["answers", "attendance", "signatures", "submissions", "donations", "outreaches", "taggings", "items"] {
        row!(ledger, "HLP-21", api.follow(&made, name)["total_records"] == 0, "{name} of {made}");
    }
    row!(ledger, "RES-person-49", address.ends_with("/people/person_signup"));
    let page = api.get(&api.collection("people")).ok();
    row!(ledger, "RES-person-49", api.href(&page, "person_signup_helper") == address, "{page}");
    for path in ["people/person_signup_helper/", "people/person_signup_helper", "people/person_signup/"] {
        let reply = api.post(&format!("{}{path}", api.base), &json!({"person": {}}));
        row!(ledger, "HLP-19", reply.status == 200, "{reply}");
    }
    let reply = api.post(&address, &json!({"given_name": "no person"}));
    row!(ledger, "HLP-19", reply.refuses("FIELD_REQUIRED", "person"), "{reply}");
    let mail = json!({"person": {"email_addresses": [{"address": "collection@example.org"}]}});
    let first = api.post(&api.collection("people"), &mail);
    row!(
        ledger,
        "HLP-19",
        first.status == 201 && first.header("location") == Some(own(&first.json).as_str()),
        "{first}"
    );
    let second = api.post(&api.collection("people"), &mail);
    row!(ledger, "HLP-19", second.status == 200 && own(&second.json) == own(&first.json), "{second}");
    row!(ledger, "HLP-19", api.anonymous().post(&api.collection("people"), &mail).status == 401);
    let petition = api.create("petitions", &json!({}));
    let inline =
        api.post(&api.href(&petition, "signatures"), &json!({"comments": "x", "person": {"given_name": "Inline"}}));
    row!(
        ledger,
        "UND-31",
        inline.status == 201 && api.follow(&inline.json, "person")["given_name"] == "Inline",
        "{inline}"
    );
    let both = api.linked(&json!({"person": {}}), "person", &own(&made));
    let both = api.post(&api.href(&petition, "signatures"), &both);
    row!(
        ledger,
        "UND-31",
        both.refuses("FIELD_INVALID", "person") && both.refuses("FIELD_INVALID", "_links.svc:person"),
        "{both}"
    );
}
