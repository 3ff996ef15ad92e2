//! A list that people can be on.

use crate::{types::resource, schema::FieldRule};

resource! {
    /// A list that people can be on.
    List: "list" / "lists" {
        /// Name of the creating system
        "UND-03" origin_system: String,
        /// Administrative name
        "UND-03" name: String [FieldRule::UniqueName] = required,
        /// Public title
        "UND-03" title: String,
        /// Description, text and/or HTML
        "UND-03" description: String,
        /// Single text paragraph
        "UND-03" summary: String,
        /// Public URL
        "UND-03" browser_url: String,
        /// Administrative URL
        "UND-03" administrative_url: String,
        /// Number of items; computed by the server
        "UND-03" total_items: i64 = count(Item),
    }
    links {
        /// The Person who created it
        "UND-03" creator: one Person Create,
        /// The Person who last changed it
        "UND-03" modified_by: one Person,
        /// Its items
        "UND-03" items: many Item,
    }
}
