//! What a call without a key may do.
//!
//! Requirements: HLP-04, HLP-07, UND-24.

use super::{FunctionName, GroupKind, GroupRef, MergePolicy, RawHelperRequest};
use crate::{draft::RawDraft, json::Json};

/// What a call without a key may do.
///
/// Whatever is allowed here: a stranger's call never uses or stores identifiers of a person, never
/// finds an action that was recorded before, and never changes a value that is known of a person.
/// It is answered alike whoever is known.
///
/// # Examples
///
/// ```
/// use svc_core::helper::AnonymousPolicy;
///
/// // Campaign pages may put people on one list, and do nothing else for them.
/// let strangers = AnonymousPolicy::new().allowed_tags::<&str>([]).allowed_lists(["Newsletter"]);
/// assert!(strangers.description().contains("by e-mail address"));
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
    /// They are matched with known people, of whom they change nothing, and may use every action
    /// function but `triggers`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What they post fills empty texts, numbers and booleans of a known person and adds postal
    /// addresses; nothing else.
    #[must_use]
    pub const fn fill_empty(mut self) -> Self {
        self.merge = MergePolicy::FillEmpty;
        self
    }

    /// They are never matched: whoever they post is somebody new.
    #[must_use]
    pub const fn without_matching(mut self) -> Self {
        self.merge = MergePolicy::AlwaysCreate;
        self
    }

    /// They may use no action function: each fails alone with `NOT_SUPPORTED`.
    ///
    /// Requirements: HAF-01.
    #[must_use]
    pub const fn without_action_functions(mut self) -> Self {
        self.functions = false;
        self
    }

    /// Allows `triggers` without a key; otherwise it fails with `NOT_SUPPORTED`.
    ///
    /// A store sends each response at most once in 24 hours for a person, a trigger and a
    /// container. The reply to the caller does not show whether it was sent. A helper that you run
    /// yourself has to limit it itself.
    ///
    /// Requirements: HAF-14, HAF-11.
    #[must_use]
    pub const fn with_triggers(mut self) -> Self {
        self.triggers = true;
        self
    }

    /// They may add these tags; every other one does not exist for them.
    ///
    /// Requirements: HAF-03, HAF-04.
    #[must_use]
    pub fn allowed_tags<N: Into<GroupRef>>(mut self, tags: impl IntoIterator<Item = N>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// They may put people on these lists; every other one does not exist for them.
    ///
    /// Requirements: HAF-05, HAF-06.
    #[must_use]
    pub fn allowed_lists<N: Into<GroupRef>>(mut self, lists: impl IntoIterator<Item = N>) -> Self {
        self.lists = Some(lists.into_iter().map(Into::into).collect());
        self
    }

    /// What becomes of a person that a stranger posts, in words.
    ///
    /// Requirements: HLP-05.
    #[must_use]
    pub const fn description(&self) -> &'static str {
        match self.merge {
            MergePolicy::FillEmpty => {
                "A call without a key matches by e-mail address only, never by an identifier. Of the person that it finds it \
                 fills empty texts, numbers and booleans and adds postal addresses; nothing else is changed."
            }
            MergePolicy::AlwaysCreate => "Whoever is posted without a key is somebody new.",
            _ => {
                "A call without a key matches by e-mail address only, never by an identifier, and changes nothing of the \
                 person that it finds: its action is tied to that person."
            }
        }
    }

    /// How a call without a key changes a person who exists.
    #[must_use]
    pub const fn merge(&self) -> MergePolicy {
        self.merge
    }

    /// Whether a call without a key may trigger server responses.
    #[must_use]
    pub const fn may_trigger(&self) -> bool {
        self.functions && self.triggers
    }

    /// Whether a call without a key may use an action function.
    #[must_use]
    pub fn may_use(&self, function: FunctionName) -> bool {
        self.functions && (function != FunctionName::Triggers || self.triggers)
    }

    /// Takes out of a call what a stranger does not bring: names of records that are there, and
    /// tags and lists that are not for him.
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
    person.identifiers.clear();
}
