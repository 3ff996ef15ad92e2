//! Example requests for each operation, helper and action function.

use http::Method;
use svc_core::{
    api::OfferedOperation,
    auth::Operation,
    error::ErrorCode,
    helper::{FunctionFields, FunctionName, HelperName, ScheduleFields},
    link::{RecordAddress, Scope, Target},
    model::Kind,
    operation::KeyRequirement,
    read::{Json, Object},
    schema::{FieldMode, LinkTarget, LinkWrite, ValueType},
    value::{ClosedEnum, Id},
};

use super::{
    ExampleRequest, Examples, created, record,
    values::{ExampleDetail, chosen, value},
};
use crate::documents::{effective_field::EffectiveField, error_codes, parameters::parameters};

impl Examples<'_> {
    /// Returns a request, if this server offers its method and target; otherwise `None`.
    fn request(
        &self,
        title: String,
        method: &'static Method,
        target: &Target,
        body: Option<Object>,
    ) -> Option<ExampleRequest> {
        let offered = self.api.operation(method, target)?;
        let has_key = offered.key_requirement() != KeyRequirement::None;
        let key_header = has_key.then(|| self.api.dialect().key_header_text().clone());
        let status = offered
            .spec()
            .default_success(self.api.response_style())
            .status
            .as_u16();
        let address = self.api.url(self.base, target);
        let body = body.map(Json::Object);
        Some(ExampleRequest {
            title,
            method: method.as_str(),
            address,
            key_header,
            body,
            status,
            parameters: self.parameters(&offered, target),
            refusals: error_codes::of(self.api, &offered, target),
            explorer: self.explorer(target),
            answer: None,
        })
    }

    /// Returns the query parameters of a target.
    fn parameters(&self, offered: &OfferedOperation, target: &Target) -> Vec<(String, String)> {
        let output = offered
            .spec()
            .default_success(self.api.response_style())
            .body;
        parameters(self.api, output, target)
            .into_iter()
            .map(|it| (it.name.to_owned(), it.text))
            .collect()
    }

    /// Returns the address of a target in the explorer. For a target with ids, it is the address of
    /// the collection that contains them.
    fn explorer(&self, target: &Target) -> Option<String> {
        let all = |kind: Kind| {
            self.api
                .offers(kind, Operation::List)
                .then_some(Target::Collection {
                    kind,
                    scope: Scope::All,
                })
        };
        let shown = match target {
            Target::Record(at) => all(at.kind).or_else(|| all(at.kind.schema().path_parent?))?,
            Target::Merge(at)
            | Target::MergeBatch(at)
            | Target::PersonMerges(at)
            | Target::UndoMerge(at, _)
            | Target::Collection {
                scope: Scope::Under(at),
                ..
            }
            | Target::Helper {
                container: Some(at),
                ..
            }
            | Target::Batch {
                container: Some(at),
                ..
            } => all(at.kind)?,
            Target::PersonDuplicates(_) => all(Kind::Person)?,
            Target::DuplicatePair(..) => Target::Duplicates,
            Target::Webhook(_) | Target::Redelivery(_) | Target::SecretRotation(_) => {
                Target::Webhooks
            }
            other => other.clone(),
        };
        let explorer = self.api.url(self.base, &Target::Explorer("".into()));
        let href = self.api.url(self.base, &shown);
        Some(format!(
            "{explorer}#/{}",
            href.strip_prefix(self.base.as_str())?
        ))
    }

    /// Returns a request for a public document.
    pub(in crate::documents) fn public(
        &self,
        title: &str,
        target: &Target,
    ) -> Option<ExampleRequest> {
        self.request(title.to_owned(), &Method::GET, target, None)
    }

    /// Returns the supported requests for a record: list, create, read, change and delete.
    pub(in crate::documents) fn of_record(&self, kind: Kind) -> Vec<ExampleRequest> {
        let Some(address) = record(kind) else {
            return Vec::new();
        };
        let name = kind.with_article();
        let target = Target::Record(address);
        let read = self.request(format!("Read {name}"), &Method::GET, &target, None);
        let read = read.map(|request| ExampleRequest {
            answer: self.answer(kind),
            ..request
        });
        let change = Some(self.change(kind));
        let update = self.request(format!("Change {name}"), &Method::PUT, &target, change);
        let delete = self.request(format!("Delete {name}"), &Method::DELETE, &target, None);
        [self.list(kind), self.create(kind), read, update, delete]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns a request that reads a record of a kind, or else the collection that lists it.
    pub(in crate::documents) fn read(&self, kind: Kind) -> Option<ExampleRequest> {
        let record = record(kind).map(Target::Record);
        let read = |target: &Target| {
            self.request(
                format!("Read {}", kind.with_article()),
                &Method::GET,
                target,
                None,
            )
        };
        record.as_ref().and_then(read).or_else(|| self.list(kind))
    }

    /// Returns a request that lists records of a kind.
    pub(in crate::documents) fn list(&self, kind: Kind) -> Option<ExampleRequest> {
        let title = format!("List {}", kind.plural().replace('_', " "));
        self.request(title, &Method::GET, &self.listed(kind)?, None)
    }

    /// Returns the supported requests that list and create records of a kind.
    pub(in crate::documents) fn of_collection(&self, kind: Kind) -> Vec<ExampleRequest> {
        let list = self.list(kind);
        let list = list.map(|request| ExampleRequest {
            answer: self.page_answer(kind),
            ..request
        });
        [list, self.create(kind)].into_iter().flatten().collect()
    }

    fn create(&self, kind: Kind) -> Option<ExampleRequest> {
        let body = self.body(kind, true);
        self.request(
            format!("Create {}", kind.with_article()),
            &Method::POST,
            &created(kind)?,
            Some(body),
        )
    }

    /// Returns the requests that call a helper; for the schedule helper, also one that cancels the
    /// schedule.
    pub(in crate::documents) fn of_helper(&self, helper: HelperName) -> Vec<ExampleRequest> {
        let Some(target) = helper_target(helper) else {
            return Vec::new();
        };
        let title = helper.description().to_owned();
        if helper == HelperName::Schedule {
            let mut body = Object::new();
            self.add(
                &mut body,
                chosen(
                    ScheduleFields::FIELDS
                        .fields
                        .iter()
                        .map(EffectiveField::from),
                    ExampleDetail::Short,
                ),
                "schedule",
            );
            let set = self.request(
                "Schedule a message".to_owned(),
                &Method::POST,
                &target,
                Some(body),
            );
            let cancel = self.request(
                "Cancel the schedule".to_owned(),
                &Method::DELETE,
                &target,
                None,
            );
            return [set, cancel].into_iter().flatten().collect();
        }
        let call = self.request(
            title,
            &Method::POST,
            &target,
            Some(self.helper_body(helper)),
        );
        call.into_iter()
            .map(|request| ExampleRequest {
                answer: self.answer(helper.recorded_kind()),
                ..request
            })
            .collect()
    }

    /// Returns a call of the first helper of this server that accepts action functions, with this
    /// function.
    pub(in crate::documents) fn of_function(
        &self,
        function: FunctionName,
    ) -> Option<ExampleRequest> {
        if !self.api.action_functions().contains(&function) {
            return None;
        }
        let helper = self
            .api
            .helpers()
            .find(|helper| helper.accepts_action_functions() && helper.accepts_person())?;
        let name = function.as_str();
        let field = FunctionFields::FIELDS.field(name)?;
        let mut body = Object::new();
        body.insert("person", self.body(Kind::Person, false));
        let address = |kind: Kind| Some(self.api.url(self.base, &Target::Record(record(kind)?)));
        let value = match function {
            FunctionName::AddTagsUri => Json::from(vec![Json::from(address(Kind::Tag)?)]),
            FunctionName::AddListsUri => Json::from(vec![Json::from(address(Kind::List)?)]),
            FunctionName::AddQuestionsResponsesUri => {
                let mut answer = Object::new();
                answer.insert("question", address(Kind::Question)?);
                answer.insert("responses", vec![Json::from("yes")]);
                Json::from(vec![Json::from(answer)])
            }
            FunctionName::Triggers => {
                let (mut wanted, mut triggers) = (Object::new(), Object::new());
                wanted.insert("enabled", true);
                triggers.insert("autoresponse", wanted);
                Json::from(triggers)
            }
            _ => value(&field.ty, field.into(), "", ExampleDetail::Short),
        };
        body.insert(name, value);
        self.request(
            format!("Call a helper with `{name}`"),
            &Method::POST,
            &helper_target(helper)?,
            Some(body),
        )
    }

    /// Returns a create that is rejected, with the error object; `None` if this server has no
    /// creates.
    pub(in crate::documents) fn refused(&self) -> Option<ExampleRequest> {
        let kind = Kind::ALL.iter().copied().find(|kind| {
            kind.schema().parent.is_none() && self.api.offers(*kind, Operation::Create)
        })?;
        let mut body = Object::new();
        let is_text = |own: &EffectiveField<'_>| matches!(own.field.ty, ValueType::String);
        let field = EffectiveField::writable_fields(self.api, kind)
            .find(is_text)?
            .field;
        body.insert(field.name, true);
        let target = created(kind)?;
        let title = format!("Create {} with an invalid value", kind.with_article());
        let request = self.request(title, &Method::POST, &target, Some(body))?;
        let answer = self.failure(Some(kind), ErrorCode::FieldInvalid, &[field.name]);
        Some(ExampleRequest {
            status: 400,
            answer,
            ..request
        })
    }

    /// Returns the requests for webhooks.
    ///
    /// Requirements: HOOK-01 to HOOK-14.
    pub(in crate::documents) fn of_webhooks(&self) -> Vec<ExampleRequest> {
        let Some(id) = Id::new(ExampleRequest::WEBHOOK_ID) else {
            return Vec::new();
        };
        let with = |name: &'static str, value: Json| {
            let mut body = Object::new();
            body.insert(name, value);
            body
        };
        let mut new = with("url", Json::from("https://crm.example.org/webhooks"));
        new.insert("events", vec![Json::from("created"), Json::from("changed")]);
        let paused = with("status", Json::from("paused"));
        let one = Target::Webhook(id.clone());
        [
            ("List the webhooks", &Method::GET, &Target::Webhooks, None),
            (
                "Create a webhook",
                &Method::POST,
                &Target::Webhooks,
                Some(new),
            ),
            ("Read a webhook", &Method::GET, &one, None),
            ("Pause a webhook", &Method::PUT, &one, Some(paused)),
            (
                "Send changes again",
                &Method::POST,
                &Target::Redelivery(id.clone()),
                Some(Object::new()),
            ),
            (
                "Change the secret of a webhook",
                &Method::POST,
                &Target::SecretRotation(id),
                None,
            ),
            ("Delete a webhook", &Method::DELETE, &one, None),
        ]
        .into_iter()
        .filter_map(|(title, method, target, body)| {
            self.request(title.to_owned(), method, target, body)
        })
        .collect()
    }

    /// Returns the requests that merge two people: a preview, and the merge.
    ///
    /// Requirements: MRG-02, MRG-08.
    pub(in crate::documents) fn of_merges(&self) -> Vec<ExampleRequest> {
        let merged = Id::new(ExampleRequest::MERGED_PERSON_ID);
        let (Some(person), Some(other)) = (record(Kind::Person), merged) else {
            return Vec::new();
        };
        let other = Target::Record(RecordAddress::without_parent(Kind::Person, other));
        let target = Target::Merge(person);
        let body = |is_preview: bool| {
            let (mut href, mut links, mut body) = (Object::new(), Object::new(), Object::new());
            href.insert("href", self.api.url(self.base, &other));
            let relation = self.api.dialect().relation(Kind::Person.singular());
            links.insert(relation, href);
            body.insert("_links", links);
            if is_preview {
                body.insert("preview", true);
            }
            body
        };
        let requests = [("Preview a merge", true), ("Merge two people", false)];
        let requests = requests.into_iter().filter_map(|(title, is_preview)| {
            self.request(
                title.to_owned(),
                &Method::POST,
                &target,
                Some(body(is_preview)),
            )
        });
        requests.collect()
    }

    /// Returns the request that lists the merges into a person.
    ///
    /// Requirements: MRG-20.
    pub(in crate::documents) fn of_merge_list(&self) -> Option<ExampleRequest> {
        let target = Target::PersonMerges(record(Kind::Person)?);
        let title = "List the merges into a person".to_owned();
        self.request(title, &Method::GET, &target, None)
    }

    /// Returns the request that undoes a merge.
    ///
    /// Requirements: MRG-20.
    pub(in crate::documents) fn of_undo(&self) -> Option<ExampleRequest> {
        let merge = Id::new(ExampleRequest::MERGE_ID)?;
        let target = Target::UndoMerge(record(Kind::Person)?, merge);
        let title = "Undo a merge".to_owned();
        self.request(title, &Method::POST, &target, Some(Object::new()))
    }

    fn helper_body(&self, helper: HelperName) -> Object {
        let mut body = match helper {
            HelperName::PersonSignup => Object::new(),
            HelperName::RecordCanvass => {
                let mut body = Object::new();
                body.insert("canvass", self.fields(Kind::Canvass));
                body
            }
            other => self.fields(other.recorded_kind()),
        };
        if helper.accepts_person() {
            body.insert("person", self.fields(Kind::Person));
        }
        body
    }

    /// Returns the body of a create, or the record in the body of a helper. The latter has no
    /// links.
    fn body(&self, kind: Kind, with_links: bool) -> Object {
        let mut body = self.fields(kind);
        let mut links = Object::new();
        for link in kind.schema().links {
            if let LinkTarget::One {
                kind: to,
                write: LinkWrite::Required,
                ..
            } = link.target
                && let Some(address) = record(to)
            {
                let mut href = Object::new();
                href.insert("href", self.api.url(self.base, &Target::Record(address)));
                links.insert(self.api.dialect().relation(link.name), href);
            }
        }
        if with_links && !links.is_empty() {
            body.insert("_links", links);
        }
        body
    }

    fn fields(&self, kind: Kind) -> Object {
        let mut body = Object::new();
        self.add(
            &mut body,
            chosen(
                EffectiveField::writable_fields(self.api, kind),
                ExampleDetail::Short,
            ),
            kind.singular(),
        );
        body
    }

    /// Returns the body of a change: one field that does not identify anything.
    fn change(&self, kind: Kind) -> Object {
        let taken: Vec<_> = EffectiveField::writable_fields(self.api, kind).collect();
        let is_plain = |own: &&EffectiveField<'_>| {
            matches!(own.field.ty, ValueType::String) && own.field.mode == FieldMode::Stored
        };
        let telling = chosen(taken.iter().copied(), ExampleDetail::Short);
        let change = telling
            .iter()
            .find(is_plain)
            .or_else(|| taken.iter().find(is_plain))
            .or(telling.first());
        let mut body = Object::new();
        self.add(
            &mut body,
            change.copied().into_iter().collect(),
            kind.singular(),
        );
        body
    }

    fn add(&self, body: &mut Object, fields: Vec<EffectiveField<'_>>, owner: &str) {
        for own in fields {
            body.insert(
                own.field.name,
                value(&own.field.ty, own, owner, ExampleDetail::Short),
            );
        }
        self.api.dialect().share_names().rename_to_wire(body);
    }
}

fn helper_target(helper: HelperName) -> Option<Target> {
    let container = match helper.container_kind() {
        Some(kind) => Some(record(kind)?),
        None => None,
    };
    Some(Target::Helper { helper, container })
}
