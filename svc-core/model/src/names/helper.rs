//! The eight helpers, listed only in this file.

use super::Kind;

/// Calls a macro of the crate with every helper. The arguments are its requirement, name, relation,
/// container and recorded kind, and whether the specification allows it without a key.
macro_rules! helpers {
    ($callback:ident) => {
        $callback! {
            /// Records a signature on a petition
            "HLP-11" RecordSignature: "record_signature", "record_signature_helper", Some(Kind::Petition), Signature, anonymous true;
            /// Records a submission of a form
            "HLP-12" RecordSubmission: "record_submission", "record_submission_helper", Some(Kind::Form), Submission, anonymous true;
            /// Records a donation on a fundraising page
            "HLP-13" RecordDonation: "record_donation", "record_donation_helper", Some(Kind::FundraisingPage), Donation, anonymous true;
            /// Records an outreach of an advocacy campaign
            "HLP-14" RecordOutreach: "record_outreach", "record_outreach_helper", Some(Kind::AdvocacyCampaign), Outreach, anonymous true;
            /// Records an attendance at an event
            "HLP-15" RecordAttendance: "record_attendance", "record_attendance_helper", Some(Kind::Event), Attendance, anonymous true;
            /// Records an attempt to reach a person
            "HLP-16" RecordCanvass: "record_canvass", "record_canvass_helper", Some(Kind::Person), Canvass, anonymous true;
            /// Signs a person up
            "HLP-19" PersonSignup: "person_signup", "person_signup_helper", None, Person, anonymous false;
            /// Schedules a message or cancels its schedule
            "HLP-22" Schedule: "schedule", "schedule_helper", Some(Kind::Message), Message, anonymous false;
        }
    };
}

macro_rules! names {
    ($(
        $(#[doc = $doc:literal])+
        $row:literal $name:ident: $wire:literal, $relation:literal, $container:expr, $records:ident, anonymous $anonymous:literal;
    )+) => {
        /// The eight helpers.
        ///
        /// Requirements: HLP-11 to HLP-22.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum HelperName { $( #[doc = concat!($($doc,)+ " (", $row, ").")] $name ),+ }

        impl HelperName {
            /// Every helper.
            pub const ALL: &'static [HelperName] = &[$(HelperName::$name),+];

            /// Returns the name in capabilities and rights, such as `record_signature`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $wire),+ }
            }

            /// Returns the relation without prefix, such as `record_signature_helper`.
            #[must_use]
            pub const fn relation(self) -> &'static str {
                match self { $(Self::$name => $relation),+ }
            }

            /// Returns the kind of the record that the helper belongs to; `None` for person signup,
            /// which belongs to the people collection.
            #[must_use]
            pub const fn container_kind(self) -> Option<Kind> {
                match self { $(Self::$name => $container),+ }
            }

            /// Returns the kind that the helper creates or changes, and returns.
            #[must_use]
            pub const fn recorded_kind(self) -> Kind {
                match self { $(Self::$name => Kind::$records),+ }
            }

            /// Returns whether the specification allows requests without a key.
            ///
            /// Requirements: AUT-06, AUT-07.
            #[must_use]
            pub const fn allows_anonymous(self) -> bool {
                match self { $(Self::$name => $anonymous),+ }
            }

            /// Returns what the helper does, as a phrase without a full stop.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii()),+ }
            }

            /// Returns the id of its requirement, such as `HLP-11`.
            #[must_use]
            pub const fn requirement(self) -> &'static str {
                match self { $(Self::$name => $row),+ }
            }
        }
    };
}

helpers!(names);

impl HelperName {
    /// Returns the helper that records a kind of action under its container.
    #[must_use]
    pub fn for_recorded_kind(kind: Kind) -> Option<Self> {
        let records =
            |helper: &&Self| helper.recorded_kind() == kind && helper.container_kind().is_some();
        Self::ALL
            .iter()
            .copied()
            .find(|helper| records(&helper) && helper.container_kind() != Some(kind))
    }

    /// Returns the helper that a create request of a kind with an inline `person` is equivalent to.
    ///
    /// Requirements: HLP-19, UND-31.
    #[must_use]
    pub fn for_nested_create(kind: Kind) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|helper| helper.recorded_kind() == kind && helper.accepts_person())
    }

    /// Returns whether the body has a `person`.
    ///
    /// Requirements: HLP-03, HLP-18.
    #[must_use]
    pub const fn accepts_person(self) -> bool {
        !matches!(self, Self::RecordCanvass | Self::Schedule)
    }

    /// Returns whether the helper accepts batches, because it records something.
    ///
    /// Requirements: BAT-01.
    #[must_use]
    pub const fn accepts_batches(self) -> bool {
        !matches!(self, Self::Schedule)
    }

    /// Returns whether the body accepts action functions.
    ///
    /// Requirements: HAF-01, SCH-09.
    #[must_use]
    pub const fn accepts_action_functions(self) -> bool {
        !matches!(self, Self::Schedule)
    }
}

pub(crate) use helpers;
