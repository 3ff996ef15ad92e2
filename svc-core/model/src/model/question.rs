//! A question for people.

use crate::{
    types::{closed_enum, object, resource},
    error::ErrorCode,
    schema::RecordValidator,
    schema::FieldRule,
};

resource! {
    /// A question for people.
    Question: "question" / "questions" {
        /// Name of the creating system
        "RES-question-01" origin_system: String,
        /// Administrative name
        "RES-question-02" name: String,
        /// Public title
        "RES-question-03" title: String,
        /// Description, text and/or HTML
        "RES-question-04" description: String,
        /// Single text paragraph
        "RES-question-05" summary: String,
        /// `SingleChoice` allows one response per answer, `MultiChoice` one or more
        "RES-question-06" question_type: QuestionType = required,
        /// Acceptable responses, for `SingleChoice` and `MultiChoice`
        "RES-question-07" responses: Vec<QuestionResponse> [FieldRule::UniqueKeys],
    }
    links {
        /// The Person who created it
        "RES-question-12" creator: one Person Create,
        /// The Person who last changed it
        "RES-question-13" modified_by: one Person,
        /// Its answers
        "RES-question-14" answers: many Answer,
    }
    rules rules
}

object! {
    /// An acceptable response (RES-question-07).
    QuestionResponse: "responses" {
        /// Alphanumeric, unique among the question's responses
        "RES-question-08" key: String [FieldRule::ResponseKey] = required,
        /// Administrative name
        "RES-question-09" name: String [FieldRule::ResponseName],
        /// Public title
        "RES-question-10" title: String,
    }
}

closed_enum! {
    /// Type of a question (RES-question-06).
    QuestionType { Paragraph = "Paragraph", Singlechoice = "SingleChoice", Multichoice = "MultiChoice" }
}

/// Checks that a Paragraph question has no responses, and that other questions have them.
///
/// Requirements: ERR-35, RES-question-07.
fn rules(cx: &mut RecordValidator<'_>) {
    let has_responses = cx.array("responses").is_some_and(|responses| !responses.is_empty());
    let Some(question_type) = cx.text("question_type") else { return };
    match (question_type, has_responses) {
        ("Paragraph", true) => {
            let properties = ["question_type", "responses"];
            cx.report(ErrorCode::ParagraphCannotHaveResponses, &properties, "A Paragraph question cannot have responses.");
        }
        ("SingleChoice" | "MultiChoice", false) if cx.touches(&["question_type", "responses"]) => {
            let text = "{property} is required for a question of this type.";
            cx.report(ErrorCode::FieldRequired, &["responses"], text);
        }
        _ => {}
    }
}
