//! A stored query over people.

use crate::types::resource;

resource! {
    /// A stored query over people.
    Query: "query" / "queries" without create, delete {
        /// Name of the creating system
        "UND-04" origin_system: String,
        /// Administrative name
        "UND-04" name: String,
        /// Public title
        "UND-04" title: String,
        /// Description, text and/or HTML
        "UND-04" description: String,
        /// Single text paragraph
        "UND-04" summary: String,
        /// Public URL
        "UND-04" browser_url: String,
        /// Administrative URL
        "UND-04" administrative_url: String,
        /// Number of results; computed by the server, absent until results exist
        "UND-04" total_results: i64 = outside absent,
    }
    links {
        /// The Person who created it
        "UND-04" creator: one Person Create,
        /// The Person who last changed it
        "UND-04" modified_by: one Person,
    }
}
