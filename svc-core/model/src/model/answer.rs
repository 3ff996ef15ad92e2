//! An answer of a person to a question.

use crate::types::resource;

resource! {
    /// An answer of a person to a question.
    Answer: "answer" / "answers" in Question under "question" also CreatableUnderSubmission {
        /// Name of the creating system
        "UND-01" origin_system: String,
        /// Date and time of the answer
        "UND-01" action_date: String = receipt_time,
        /// Free text
        "UND-01" value: String,
        /// Chosen response keys
        "UND-01" responses: Vec<String>,
    }
    links {
        /// The Person who answered
        "UND-01" person: one Person Required Move cascade,
        /// The question
        "UND-01" question: one Question restrict,
    }
}
