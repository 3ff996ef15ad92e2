//! A tag on a person.

use crate::types::resource;

resource! {
    /// A tag on a person.
    Tagging: "tagging" / "taggings" in Tag under "tag" once per person without update {
        /// Name of the creating system
        "UND-05" origin_system: String,
        /// Relation of the tagged resource
        "UND-05" item_type: String = relation Person,
    }
    links {
        /// The tagged Person
        "UND-05" person: one Person Required cascade,
        /// The tag
        "UND-05" tag: one Tag cascade,
    }
}
