//! A person on a list.

use crate::types::resource;

resource! {
    /// A person on a list.
    Item: "item" / "items" in List under "list" once per person without update {
        /// Name of the creating system
        "UND-06" origin_system: String,
        /// Relation of the listed resource
        "UND-06" item_type: String = relation Person,
    }
    links {
        /// The listed Person
        "UND-06" person: one Person Required cascade,
        /// The list
        "UND-06" list: one List cascade,
    }
}
