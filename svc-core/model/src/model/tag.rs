//! A tag that people can have.

use crate::{types::resource, schema::FieldRule};

resource! {
    /// A tag that people can have.
    Tag: "tag" / "tags" {
        /// Name of the creating system
        "UND-02" origin_system: String,
        /// Administrative name
        "UND-02" name: String [FieldRule::UniqueName] = required,
        /// Description, text and/or HTML
        "UND-02" description: String,
    }
    links {
        /// The Person who created it
        "UND-02" creator: one Person Create,
        /// The Person who last changed it
        "UND-02" modified_by: one Person,
        /// Its taggings
        "UND-02" taggings: many Tagging,
    }
}
