//! Example responses, written by the renderer that also writes real responses.

use svc_core::{
    error::{ErrorCode, Problem},
    helper::EntryStatus,
    internal::DocumentRenderer,
    link::{LinkValue, Target},
    model::Kind,
    page::PageRequest,
    raw::{RawHelperOutcome, RawPage, RawRecord},
    read::{Json, JsonLimits, Object},
    record::{ComputedValue, Meta},
    schema::LinkTarget,
    value::{Identifier, Timestamp},
};

use super::{
    Examples,
    moments::EARLIER,
    record,
    values::{ExampleDetail, value},
};
use crate::documents::effective_field::EffectiveField;

impl Examples<'_> {
    /// Returns a record as this server returns it.
    pub(in crate::documents) fn answer(&self, kind: Kind) -> Option<Json> {
        let example = self.example(kind)?;
        read(&DocumentRenderer::new(self.api, self.base).record(&example))
    }

    /// Returns a page of a collection as this server returns it. It has one member with its first
    /// fields.
    pub(super) fn page_answer(&self, kind: Kind) -> Option<Json> {
        let Target::Collection { scope, .. } = self.listed(kind)? else {
            return None;
        };
        let page = RawPage::new(vec![self.example(kind)?], 60);
        let request = PageRequest::new(2, self.api.limits().default_page_size);
        let out =
            DocumentRenderer::new(self.api, self.base).collection(kind, &scope, &request, &page);
        let mut answer = read(&out)?;
        shorten(&mut answer);
        Some(answer)
    }

    /// Returns the error object of a request that failed completely.
    pub(in crate::documents) fn failure(
        &self,
        kind: Option<Kind>,
        code: ErrorCode,
        properties: &[&str],
    ) -> Option<Json> {
        let reference = (code.status() >= 500).then_some("0f8fad5b-d9cb-469f-a165-70867728950e");
        read(&DocumentRenderer::new(self.api, self.base).failure(kind, code, properties, reference))
    }

    /// Returns the error object of a helper call that failed in part, as for an anonymous caller.
    ///
    /// Requirements: ERR-31, HLP-07.
    pub(in crate::documents) fn report(
        &self,
        kind: Kind,
        code: ErrorCode,
        properties: &[&str],
    ) -> Option<Json> {
        let mut outcome = RawHelperOutcome::default();
        if code != ErrorCode::PersonRequired {
            outcome.entry(Kind::Person, EntryStatus::Created);
        }
        outcome.entry(Kind::Signature, EntryStatus::Created);
        outcome.entry(
            kind,
            EntryStatus::Failed(vec![Problem::for_properties(
                code,
                properties,
                code.meaning(),
            )]),
        );
        read(&DocumentRenderer::new(self.api, self.base).report(&outcome))
    }

    fn example(&self, kind: Kind) -> Option<RawRecord> {
        let address = record(kind)?;
        let at = Timestamp::parse(EARLIER)?;
        let foreign = Identifier::parse("other_system:1001");
        let meta =
            Meta::new(address.id, at).with_identifiers(&foreign.into_iter().collect::<Vec<_>>());
        let mut fields = Object::new();
        for (_, own) in
            EffectiveField::of(self.api, kind).filter(|(_, own)| own.field.name != "item_type")
        {
            fields.insert(
                own.field.name,
                value(&own.field.ty, own, kind.singular(), ExampleDetail::Outline),
            );
        }
        self.api.dialect().share_names().rename_to_wire(&mut fields);
        let mut members = Vec::new();
        fields.write_members(&mut members);
        let mut example = RawRecord::from_wire(kind, meta, members);
        if kind.schema().fields.field("item_type").is_some() {
            example.add_computed("item_type", ComputedValue::Relation(Kind::Person));
        }
        for link in kind.schema().links {
            if let LinkTarget::One { kind: to, .. } = link.target
                && let Some(to) = record(to)
            {
                example.add_link(link.name, LinkValue::Local(to));
            }
        }
        Some(example)
    }
}

/// Removes all but the common fields and the first fields of each member. The page of the kind
/// shows a whole record.
fn shorten(page: &mut Json) {
    let Some(embedded) = page
        .as_object_mut()
        .and_then(|page| page.get_mut("_embedded"))
    else {
        return;
    };
    let Some(embedded) = embedded.as_object_mut() else {
        return;
    };
    for (_, members) in embedded.iter_mut() {
        for member in members
            .as_array_mut()
            .into_iter()
            .flatten()
            .filter_map(Json::as_object_mut)
        {
            let mut count = 0_usize;
            member.retain(|name, value| {
                count = count.saturating_add(1);
                if name == "_links"
                    && let Some(links) = value.as_object_mut()
                {
                    links.retain(|name, _| name == "self");
                }
                count <= 7 || name == "_links"
            });
        }
    }
}

fn read(bytes: &[u8]) -> Option<Json> {
    Json::read(bytes, &JsonLimits::default()).ok()
}
