//! The kinds, listed only in this file.

/// Calls a macro of the crate with every kind: its number in stored data, and the file of its
/// table.
///
/// The order is that of the links of the entry point. A number is never changed and never reused.
macro_rules! kinds {
    ($callback:ident) => {
        $callback! {
            Person = 1 in person,
            Petition = 2 in petition,
            Event = 3 in event,
            Form = 4 in form,
            FundraisingPage = 5 in fundraising_page,
            Donation = 6 in donation,
            Tag = 7 in tag,
            List = 8 in list,
            Query = 9 in query,
            Question = 10 in question,
            SharePage = 11 in share_page,
            AdvocacyCampaign = 12 in advocacy_campaign,
            Message = 13 in message,
            Signature = 14 in signature,
            Submission = 15 in submission,
            Attendance = 16 in attendance,
            Outreach = 17 in outreach,
            Answer = 18 in answer,
            Tagging = 19 in tagging,
            Item = 20 in item,
            Canvass = 21 in canvass,
        }
    };
}

macro_rules! names {
    ($($name:ident = $number:literal in $file:ident),+ $(,)?) => {
        /// The kinds of records.
        ///
        /// Requirements: CAP-02, CAP-03.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind { $( #[doc = concat!("The kind of `", stringify!($name), "` in the tables.")] $name ),+ }

        impl Kind {
            /// Every kind, in the order of the links of the entry point.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),+];

            /// Returns the number of the kind in stored data. It is positive and never reused.
            #[must_use]
            pub const fn code(self) -> i64 {
                match self { $(Kind::$name => $number),+ }
            }
        }

        /// One value for each kind, including kinds that are added later.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct PerKind<T> { $($file: T),+ }

        impl<T> PerKind<T> {
            /// Creates the values of each kind.
            pub fn new(of: impl Fn(Kind) -> T) -> Self {
                Self { $($file: of(Kind::$name)),+ }
            }

            /// Returns the value of a kind.
            #[must_use]
            pub const fn get(&self, kind: Kind) -> &T {
                match kind { $(Kind::$name => &self.$file),+ }
            }
        }
    };
}

kinds!(names);

pub(crate) use kinds;
