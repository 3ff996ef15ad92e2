//! The 21 kinds of resources. This file holds the only list of them.

/// Calls a macro of the crate with every kind and the file of its table.
macro_rules! kinds {
    ($callback:ident) => {
        $callback! {
            Person in person,
            Petition in petition,
            Event in event,
            Form in form,
            FundraisingPage in fundraising_page,
            Donation in donation,
            Tag in tag,
            List in list,
            Query in query,
            Question in question,
            SharePage in share_page,
            AdvocacyCampaign in advocacy_campaign,
            Message in message,
            Signature in signature,
            Submission in submission,
            Attendance in attendance,
            Outreach in outreach,
            Answer in answer,
            Tagging in tagging,
            Item in item,
            Canvass in canvass,
        }
    };
}

macro_rules! names {
    ($($name:ident in $file:ident),+ $(,)?) => {
        /// The 21 kinds of resources (CAP-02, CAP-03).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind { $( #[doc = concat!("The kind of `", stringify!($name), "` in the tables.")] $name ),+ }

        impl Kind {
            /// Every kind; the order is that of the entry point's links.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),+];
        }

        /// One value for each kind, so that there is one for a kind that comes later, too.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct PerKind<T> { $($file: T),+ }

        impl<T> PerKind<T> {
            /// The value of each kind.
            pub fn new(of: impl Fn(Kind) -> T) -> Self {
                Self { $($file: of(Kind::$name)),+ }
            }

            /// The value of a kind.
            #[must_use]
            pub const fn get(&self, kind: Kind) -> &T {
                match kind { $(Kind::$name => &self.$file),+ }
            }
        }
    };
}

kinds!(names);

pub(crate) use kinds;
