//! Offers what a mapping has.

use std::sync::Arc;

use super::{ApiBuilder, Runner};
use crate::{
    api::{
        Behaviour,
        registry::{Registration, helper_of},
    },
    field_set::FieldBits,
    helper::{FunctionName, HelperName},
    mapped::{Mapped, MappedStore, Resolved},
    model::Kind,
    schema::{Field, LinkTarget, Source},
    store::Store,
};

impl ApiBuilder {
    /// Offers everything that a mapping has: all operations of its kinds, with the fields and links
    /// that have a column, and the helpers and action functions whose records it keeps; triggers
    /// where somebody [delivers](Self::deliver). What is not to be offered is taken away by
    /// [`without`](Self::without), such as `.without("attendances.create")`.
    #[must_use]
    pub fn mapped(mut self, store: &MappedStore) -> Self {
        let any: Arc<dyn Store> = Arc::new(store.clone());
        let mapping = store.mapping();
        self.settings.matching = any.matching();
        self.settings.store = Some(Arc::clone(&any));
        let has = |kind: Kind| mapping.of(kind).is_some();
        for table in &mapping.tables {
            let registered = registration(&any, mapping, table);
            self.narrowings.push((table.kind, table.narrowing()));
            if self.kinds.insert(table.kind, registered).is_some() {
                let plural = table.kind.plural();
                self.wrong.push(format!(
                    "{plural} are registered twice: register each kind once"
                ));
            }
        }
        let is_kept = |helper: &&HelperName| {
            **helper != HelperName::Schedule
                && has(helper.records())
                && has(Kind::Person)
                && helper.container().is_none_or(has)
        };
        for helper in HelperName::ALL.iter().filter(is_kept) {
            if self
                .helpers
                .insert(*helper, Runner::Native(helper_of(&any, *helper)))
                .is_some()
            {
                self.wrong.push(format!(
                    "the helper `{}` is registered twice: register each helper once",
                    helper.as_str()
                ));
            }
        }
        let is_supported = |function: &FunctionName| {
            let member = function.reports();
            match function {
                FunctionName::Triggers => true,
                _ => has(member) && member.schema().parent_kind().is_some_and(has),
            }
        };
        self.stock = Some(FunctionName::all().filter(is_supported).collect());
        if !mapping.once().is_empty() {
            self.settings.behaviours.push(Behaviour::OneActionPerPerson);
        }
        if has(Kind::Person) {
            self.settings.behaviours.push(Behaviour::MatchesPeople);
        }
        if mapping
            .of(Kind::Event)
            .is_some_and(|table| table.member("capacity").is_some())
            && has(Kind::Attendance)
        {
            self.settings.behaviours.push(Behaviour::CapacityEnforced);
        }
        self
    }
}

/// What is offered of a kind: its fields and links that have a column.
fn registration(store: &Arc<dyn Store>, mapping: &Resolved, table: &Mapped) -> Registration {
    let all = Registration::of_store(store, table.kind);
    let schema = table.kind.schema();
    let is_kept = |field: &Field| {
        table
            .members
            .iter()
            .any(|it| it.path.first().is_some_and(|top| top.name == field.name))
    };
    let places = |is_read: bool| {
        let fields = schema.fields.fields.iter().enumerate();
        let is_told =
            move |field: &Field| is_read && matches!(field.source(), Some(Source::Relation(_)));
        FieldBits::at(
            fields
                .filter(|(_, field)| is_kept(field) || is_told(field))
                .map(|(place, _)| place),
        )
    };
    let unlinked = schema.links.iter().filter(|link| {
        matches!(link.target, LinkTarget::One { .. }) && table.link(link.name).is_none()
    });
    let has_container = schema
        .parent_kind()
        .is_none_or(|kind| mapping.of(kind).is_some());
    Registration {
        under: all
            .under
            .iter()
            .copied()
            .filter(|of| mapping.of(*of).is_some() && table.scope(*of).is_some())
            .collect(),
        create: all.create.clone().filter(|_| has_container),
        readable: Some(places(true)),
        writable: Some(places(false)),
        unlinked: unlinked.map(|link| link.name).collect(),
        ..all
    }
}
