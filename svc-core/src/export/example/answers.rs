//! The answers: written by the renderer that answers requests.

use super::{
    Examples, record,
    values::{EARLIER, Extent, value},
};
use crate::{
    error::{Code, Problem},
    hal::{self, CollectionView, FailureView},
    helper::{EntryStatus, HelperName, RawOutcome},
    link::{Ref, Target},
    model::Kind,
    page::{Next, PageRequest, RawPage},
    read::{Json, Limits, Object},
    record::{Computed, Meta, RawRecord},
    schema::LinkTarget,
    value::{Identifier, Timestamp},
};

impl Examples<'_> {
    /// A record as this server sends it.
    pub(in crate::export) fn answer(&self, kind: Kind) -> Option<Json> {
        let example = self.example(kind)?;
        let mut out = Vec::new();
        hal::record(&self.api.hal(self.base), &example, true, &mut out);
        read(&out)
    }

    /// A page of a collection as this server sends it, its one member with the fields that come first.
    pub(super) fn page_answer(&self, kind: Kind) -> Option<Json> {
        let Target::Collection { scope, .. } = self.listed(kind)? else { return None };
        let page = RawPage { records: vec![self.example(kind)?], total: 60, next: Next::ByNumber };
        let request = PageRequest { number: 2, size: self.api.sizes().page, after: None };
        let signup = kind == HelperName::PersonSignup.records()
            && self.api.helpers().any(|helper| helper == HelperName::PersonSignup);
        let view = CollectionView {
            kind,
            scope: &scope,
            request: &request,
            names_page: true,
            names_size: false,
            page: &page,
            signup,
        };
        let mut out = Vec::new();
        hal::collection(&self.api.hal(self.base), &view, &mut out);
        let mut answer = read(&out)?;
        shorten(&mut answer);
        Some(answer)
    }

    /// The error object of a request that failed wholly.
    pub(in crate::export) fn failure(&self, kind: Option<Kind>, code: Code, properties: &[&str]) -> Option<Json> {
        let problem = Problem::between(code, properties, code.meaning());
        let reference_code = (code.status() >= 500).then_some("0f8fad5b-d9cb-469f-a165-70867728950e");
        let view =
            FailureView { kind, status: code.status(), problems: std::slice::from_ref(&problem), reference_code };
        let mut out = Vec::new();
        hal::failure(&self.api.hal(self.base), &view, &mut out);
        read(&out)
    }

    /// The error object of a helper call that failed in one part, as it is without a key (ERR-31, HLP-07).
    pub(in crate::export) fn report(&self, kind: Kind, code: Code, properties: &[&str]) -> Option<Json> {
        let mut outcome = RawOutcome::default();
        if code != Code::PersonRequired {
            outcome.entry(Kind::Person, EntryStatus::Created);
        }
        outcome.entry(Kind::Signature, EntryStatus::Created);
        outcome.entry(kind, EntryStatus::Failed(vec![Problem::between(code, properties, code.meaning())]));
        let mut out = Vec::new();
        let in_style = self.api.style_name() == "examples";
        hal::non_atomic(&self.api.hal(self.base), &outcome, true, in_style, &mut out);
        read(&out)
    }

    fn example(&self, kind: Kind) -> Option<RawRecord> {
        let address = record(kind)?;
        let at = Timestamp::parse(EARLIER)?;
        let foreign = Identifier::parse("other_system:1001");
        let meta = Meta::new(address.id, at).identifiers(&foreign.into_iter().collect::<Vec<_>>());
        let mut fields = Object::new();
        for field in kind.schema().fields.fields {
            if field.name != "item_type" {
                fields.insert(field.name, value(&field.ty, field, kind.singular(), Extent::Outline));
            }
        }
        self.api.dialect().share_names().rename_to_wire(&mut fields);
        let mut members = Vec::new();
        fields.write_members(&mut members);
        let mut example = RawRecord::stored(kind, meta, members);
        if kind.schema().fields.field("item_type").is_some() {
            example.add_computed("item_type", Computed::Relation(Kind::Person));
        }
        for link in kind.schema().links {
            if let LinkTarget::One { kind: to, .. } = link.target
                && let Some(to) = record(to)
            {
                example.add_link(link.name, Ref::Local(to));
            }
        }
        Some(example)
    }
}

/// Leaves of each member what every record has and its first fields: the page of the kind shows it whole.
fn shorten(page: &mut Json) {
    let Some(embedded) = page.as_object_mut().and_then(|page| page.get_mut("_embedded")) else { return };
    let Some(embedded) = embedded.as_object_mut() else { return };
    for (_, members) in embedded.iter_mut() {
        for member in members.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
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
    Json::read(bytes, &Limits::default()).ok()
}
