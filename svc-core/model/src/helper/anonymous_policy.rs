//! The policy for requests without a key.
//!
//! Requirements: HLP-04, HLP-07, UND-24.

use super::{FunctionName, GroupKind, GroupRef, MergePolicy, RawHelperRequest};
use crate::{draft::RawDraft, json::Json};

/// The policy for requests without a key.
///
/// Some limits always apply. An anonymous request never uses or stores identifiers of a person, and
/// never changes an action that was recorded before. It never changes a known value of a person. Its
/// response does not reveal whether the person existed.
///
/// # Examples
///
/// ```
/// use svc_core::helper::AnonymousPolicy;
///
/// // Campaign pages may add people to one list, and nothing else.
/// let policy = AnonymousPolicy::new().allowed_tags::<&str>([]).allowed_lists(["Newsletter"]);
/// assert!(policy.description().contains("by e-mail address"));
/// ```
#[derive(Debug, Clone)]
pub struct AnonymousPolicy {
    merge: MergePolicy,
    functions: bool,
    triggers: bool,
    tags: Option<Vec<GroupRef>>,
    lists: Option<Vec<GroupRef>>,
}

impl Default for AnonymousPolicy {
    fn default() -> Self {
        Self {
            merge: MergePolicy::KeepExisting,
            functions: true,
            triggers: false,
            tags: None,
            lists: None,
        }
    }
}

impl AnonymousPolicy {
    /// Creates the default policy. Posted people are matched with existing people without changing
    /// them, and every action function except `triggers` is allowed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a posted person to fill empty texts, numbers and booleans of an existing person and
    /// to add postal addresses.
    #[must_use]
    pub const fn fill_empty(mut self) -> Self {
        self.merge = MergePolicy::FillEmpty;
        self
    }

    /// Disables matching: every posted person is created as a new one.
    #[must_use]
    pub const fn without_matching(mut self) -> Self {
        self.merge = MergePolicy::AlwaysCreate;
        self
    }

    /// Disallows all action functions: each fails separately with `NOT_SUPPORTED`.
    ///
    /// Requirements: HAF-01.
    #[must_use]
    pub const fn without_action_functions(mut self) -> Self {
        self.functions = false;
        self
    }

    /// Allows `triggers`, which otherwise fails with `NOT_SUPPORTED`.
    ///
    /// A store sends each server response at most once in 24 hours for a person, a trigger and a
    /// container. The response to the caller does not show whether it was sent. A custom helper
    /// must implement this limit itself.
    ///
    /// Requirements: HAF-14, HAF-11.
    #[must_use]
    pub const fn with_triggers(mut self) -> Self {
        self.triggers = true;
        self
    }

    /// Allows these tags only. Every other tag is reported as missing.
    ///
    /// Requirements: HAF-03, HAF-04.
    #[must_use]
    pub fn allowed_tags<N: Into<GroupRef>>(mut self, tags: impl IntoIterator<Item = N>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// Allows these lists only. Every other list is reported as missing.
    ///
    /// Requirements: HAF-05, HAF-06.
    #[must_use]
    pub fn allowed_lists<N: Into<GroupRef>>(mut self, lists: impl IntoIterator<Item = N>) -> Self {
        self.lists = Some(lists.into_iter().map(Into::into).collect());
        self
    }

    /// Returns a description of how a person is merged that an anonymous caller posts.
    ///
    /// Requirements: HLP-05.
    #[must_use]
    pub const fn description(&self) -> &'static str {
        match self.merge {
            MergePolicy::FillEmpty => {
                "A request without a key matches by e-mail address only, never by an identifier. It fills empty texts, \
                 numbers and booleans of the existing person and adds postal addresses. It changes nothing else."
            }
            MergePolicy::AlwaysCreate => {
                "A person that is posted without a key is always created as a new person."
            }
            _ => {
                "A request without a key matches by e-mail address only, never by an identifier. It records the action \
                 for the existing person, and does not change that person."
            }
        }
    }

    /// Returns how a request without a key changes an existing person.
    #[must_use]
    pub const fn merge(&self) -> MergePolicy {
        self.merge
    }

    /// Returns whether a request without a key may trigger server responses.
    #[must_use]
    pub const fn may_trigger(&self) -> bool {
        self.functions && self.triggers
    }

    /// Returns whether a request without a key may use an action function.
    #[must_use]
    pub fn may_use(&self, function: FunctionName) -> bool {
        self.functions && (function != FunctionName::Triggers || self.triggers)
    }

    /// Removes from a request what an anonymous caller cannot use: identifiers of existing records,
    /// and tags and lists that are not allowed.
    pub fn restrict(&self, plan: &mut RawHelperRequest) {
        if let Some(person) = &mut plan.person {
            forget_names(person);
        }
        if let Some(action) = &mut plan.action {
            action.own = None;
            action.holders.clear();
            let tickets = action
                .fields
                .get_mut("tickets")
                .and_then(Json::as_array_mut);
            for ticket in tickets
                .into_iter()
                .flatten()
                .filter_map(Json::as_object_mut)
            {
                if let Some(holder) = ticket.get_mut("person").and_then(Json::as_object_mut) {
                    holder.remove("identifiers");
                }
            }
        }
        let functions = &mut plan.functions;
        let groups = [
            (&GroupKind::TAGS, &self.tags, &mut functions.tags),
            (&GroupKind::LISTS, &self.lists, &mut functions.lists),
        ];
        for (kinds, allowed, named) in groups {
            let Some(allowed) = allowed else { continue };
            let (kept, refused) = std::mem::take(named)
                .into_iter()
                .partition(|named| allowed.contains(named));
            *named = kept;
            let refused: Vec<GroupRef> = refused;
            functions.unsupported.extend(
                refused
                    .iter()
                    .map(|named| (kinds.member, kinds.unknown(named))),
            );
        }
    }
}

fn forget_names(person: &mut RawDraft) {
    person.own = None;
    person.further_own.clear();
    person.identifiers.clear();
}
