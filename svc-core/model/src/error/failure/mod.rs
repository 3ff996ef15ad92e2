//! What an operation of a backend returns when it does not succeed.

mod boxed;

use std::{borrow::Cow, error::Error as StdError, fmt, time::Duration};

use super::{Problem, PropertyPath};

/// Any error of a vendor, as [`Error::unexpected`] takes it.
type BoxedSource = Box<dyn StdError + Send + Sync>;

/// What every operation of a backend returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation of a backend did not succeed.
///
/// Any error type of the backend converts into an unexpected one with `?`; its text goes to the
/// log, never to the client. So `Error` itself does not implement [`std::error::Error`]. It
/// converts into a boxed one instead, and a program whose `main` returns [`Result`] shows it in
/// plain English, followed by its causes.
///
/// # Examples
///
/// ```
/// use std::num::ParseIntError;
/// use svc_core::{ErrorCode, Error, ErrorKind, Problem, Result};
///
/// fn seats(stored: &str) -> Result<u32> {
///     match stored.parse()? {
///         0 => Err(Error::invalid(Problem::general(ErrorCode::CapacityExceeded, "The event is full."))),
///         seats => Ok(seats),
///     }
/// }
///
/// let full = seats("0").unwrap_err();
/// assert_eq!(full.problems()[0].code, ErrorCode::CapacityExceeded);
///
/// let broken = seats("seven").unwrap_err().during("attendances.create");
/// assert!(matches!(broken.kind(), ErrorKind::Unexpected));
/// assert!(broken.source().is_some_and(|source| source.is::<ParseIntError>()));
/// assert_eq!(broken.to_string(), "attendances.create: invalid digit found in string");
/// ```
pub struct Error(Box<ErrorInner>);

struct ErrorInner {
    kind: ErrorKind,
    operation: Option<Cow<'static, str>>,
    address: Option<Cow<'static, str>>,
    source: Option<BoxedSource>,
}

/// What sort of failure an [`Error`] is: it decides what the client is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request breaks rules that only the store can check: 400 with every problem.
    ///
    /// Requirements: ERR-12, ERR-14.
    Invalid(Vec<Problem>),
    /// The addressed record or container does not exist for this tenant: 404.
    ///
    /// Requirements: UND-37.
    NotFound,
    /// The record was changed after the one that the change was made from: see
    /// `UpdateRequest::expected_state`. The library reads it again; to
    /// a client it is 503.
    Conflict,
    /// What the client asked of the record before it is changed is not true of it: 412.
    ///
    /// Requirements: ETG-07.
    PreconditionFailed,
    /// The database undid the transaction because of others, as in a deadlock or where it could not
    /// be serialized. The library runs the call again, a few times, where
    /// `Transactions` are registered; to a client it is 503.
    RolledBack,
    /// The store cannot answer now: 503 with `Retry-After`.
    ///
    /// Requirements: UND-36.
    Unavailable {
        /// When the client may try again; the header rounds it up to whole seconds.
        retry_after: Duration,
    },
    /// The operation is not supported after all: 500 `NOT_IMPLEMENTED`.
    ///
    /// Requirements: ERR-07.
    NotImplemented,
    /// Anything else: 500 with a `reference_code`.
    ///
    /// Requirements: ERR-05, ERR-06.
    Unexpected,
}

impl Error {
    fn new(kind: ErrorKind) -> Self {
        Self(Box::new(ErrorInner {
            kind,
            operation: None,
            address: None,
            source: None,
        }))
    }

    /// The request has this problem: 400.
    ///
    /// Requirements: ERR-12.
    #[must_use]
    pub fn invalid(problem: Problem) -> Self {
        Self::refused(vec![problem])
    }

    /// The request has these problems: 400 with all of them.
    ///
    /// Requirements: ERR-14.
    #[must_use]
    pub fn refused(problems: Vec<Problem>) -> Self {
        Self::new(ErrorKind::Invalid(problems))
    }

    /// The addressed record or container does not exist for this tenant: 404.
    ///
    /// Requirements: UND-37.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(ErrorKind::NotFound)
    }

    /// The record was changed after the one that the change was made from.
    #[must_use]
    pub fn conflict() -> Self {
        Self::new(ErrorKind::Conflict)
    }

    /// What the client asked of the record before it is changed is not true of it: 412.
    ///
    /// Requirements: ETG-07.
    #[must_use]
    pub fn precondition_failed() -> Self {
        Self::new(ErrorKind::PreconditionFailed)
    }

    /// The database undid the transaction because of others: the same call again may succeed.
    #[must_use]
    pub fn rolled_back() -> Self {
        Self::new(ErrorKind::RolledBack)
    }

    /// The store cannot answer now; the client may try again after this time: 503.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn unavailable(retry_after: Duration) -> Self {
        Self::new(ErrorKind::Unavailable { retry_after })
    }

    /// The operation is not supported after all: 500 `NOT_IMPLEMENTED`.
    ///
    /// Requirements: ERR-07.
    #[must_use]
    pub fn not_implemented() -> Self {
        Self::new(ErrorKind::NotImplemented)
    }

    /// Anything else, from an error or from a sentence for the log: 500 with a `reference_code`.
    ///
    /// Requirements: ERR-05, ERR-06.
    pub fn unexpected(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(ErrorKind::Unexpected).caused_by(source)
    }

    /// The same error with its cause, for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// This error in place of another one: with its cause, its operation and its address, where
    /// this one has none.
    #[must_use]
    pub fn in_place_of(mut self, other: Self) -> Self {
        let (mine, theirs) = (&mut *self.0, *other.0);
        mine.source = mine.source.take().or(theirs.source);
        mine.operation = mine.operation.take().or(theirs.operation);
        mine.address = mine.address.take().or(theirs.address);
        self
    }

    /// The same error with the operation that failed, such as `people.create`, for the log.
    #[must_use]
    pub fn during(mut self, operation: impl Into<Cow<'static, str>>) -> Self {
        self.0.operation = Some(operation.into());
        self
    }

    /// The same error with the address of the record at fault, for the log.
    #[must_use]
    pub fn at(mut self, address: impl Into<Cow<'static, str>>) -> Self {
        self.0.address = Some(address.into());
        self
    }

    /// The same error about a part of a body: a problem with a helper's person is named
    /// `person.<property>`.
    ///
    /// Requirements: ERR-26.
    #[must_use]
    pub fn within(self, part: impl Into<PropertyPath>) -> Self {
        let part = part.into();
        self.map_problems(|problems| {
            problems
                .into_iter()
                .map(|problem| problem.within(&part))
                .collect()
        })
    }

    /// The same error, its problems changed where it is an invalid request.
    #[must_use]
    pub fn map_problems(mut self, change: impl FnOnce(Vec<Problem>) -> Vec<Problem>) -> Self {
        if let ErrorKind::Invalid(problems) = &mut self.0.kind {
            *problems = change(std::mem::take(problems));
        }
        self
    }

    /// What sort of failure this is.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// What sort of failure this is, without its context.
    #[must_use]
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// The problems of an invalid request.
    ///
    /// # Errors
    ///
    /// The error itself, unless it is an invalid request.
    pub fn into_problems(self) -> Result<Vec<Problem>> {
        match *self.0 {
            ErrorInner {
                kind: ErrorKind::Invalid(problems),
                ..
            } => Ok(problems),
            other => Err(Self(Box::new(other))),
        }
    }

    /// The problems of an invalid request; none of any other failure.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match &self.0.kind {
            ErrorKind::Invalid(problems) => problems,
            _ => &[],
        }
    }

    /// Whether the request is invalid.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Invalid(_))
    }

    /// Whether the addressed record or container does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.0.kind == ErrorKind::NotFound
    }

    /// Whether the record was changed after the one that the change was made from.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.0.kind == ErrorKind::Conflict
    }

    /// Whether what the client asked of the record is not true of it.
    #[must_use]
    pub fn is_precondition_failed(&self) -> bool {
        self.0.kind == ErrorKind::PreconditionFailed
    }

    /// Whether the database undid the transaction because of others.
    #[must_use]
    pub fn is_rolled_back(&self) -> bool {
        self.0.kind == ErrorKind::RolledBack
    }

    /// Whether the store cannot answer now.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Unavailable { .. })
    }

    /// Whether this is none of the failures that the interface knows.
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        self.0.kind == ErrorKind::Unexpected
    }

    /// The cause, for example the error of a database driver.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }

    /// The operation that failed, where it is known.
    #[must_use]
    pub fn operation(&self) -> Option<&str> {
        self.0.operation.as_deref()
    }

    /// The address of the record at fault, where it is known.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.0.address.as_deref()
    }

    /// The causes that the text of this error does not already tell.
    fn causes(&self) -> Vec<String> {
        let mut said = self.sentence();
        let mut causes = Vec::new();
        for cause in std::iter::successors(self.source(), |&cause| cause.source()) {
            let text = cause.to_string();
            if !said.ends_with(&text) {
                causes.push(text.clone());
            }
            said = text;
        }
        causes
    }

    fn sentence(&self) -> String {
        let failure = &*self.0;
        let context = match (&failure.operation, &failure.address) {
            (Some(operation), Some(address)) => format!("{operation} at {address}: "),
            (Some(only), None) | (None, Some(only)) => format!("{only}: "),
            (None, None) => String::new(),
        };
        match (&failure.kind, &failure.source) {
            (ErrorKind::Unexpected, Some(source)) => format!("{context}{source}"),
            (kind, _) => format!("{context}{kind}"),
        }
    }
}

/// Plain English, without any value of the request: an invalid request is told by its codes and
/// property names.
impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problems) => {
                f.write_str("the request is invalid")?;
                for (place, problem) in problems.iter().enumerate() {
                    write!(f, "{} {}", if place == 0 { ":" } else { "," }, problem.code)?;
                    let names: Vec<String> = problem
                        .properties
                        .iter()
                        .map(|name| format!("`{name}`"))
                        .collect();
                    if !names.is_empty() {
                        write!(f, " ({})", names.join(", "))?;
                    }
                }
                Ok(())
            }
            Self::NotFound => f.write_str("not found"),
            Self::Conflict => f.write_str("changed by somebody else meanwhile"),
            Self::PreconditionFailed => f.write_str("not in the state that was asked for"),
            Self::RolledBack => f.write_str("undone because of others"),
            Self::Unavailable { retry_after } => {
                write!(f, "unavailable, try again in {retry_after:?}")
            }
            Self::NotImplemented => f.write_str("not supported"),
            Self::Unexpected => f.write_str("unexpected error"),
        }
    }
}

/// The error in plain English; `{:#}` adds its causes on the same line.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        if f.alternate() {
            for cause in self.causes() {
                write!(f, ": {cause}")?;
            }
        }
        Ok(())
    }
}

/// The error in plain English and its causes, as `main` shows it; `{:#?}` shows the parts.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return f
                .debug_struct("Error")
                .field("kind", &self.0.kind)
                .field("operation", &self.0.operation)
                .field("address", &self.0.address)
                .field("source", &self.0.source)
                .finish();
        }
        f.write_str(&self.sentence())?;
        let causes = self.causes();
        if !causes.is_empty() {
            f.write_str("\n\nCaused by:")?;
        }
        causes
            .iter()
            .try_for_each(|cause| write!(f, "\n    {cause}"))
    }
}

/// Any error of the backend is an unexpected one.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self::unexpected(error)
    }
}

#[cfg(test)]
mod tests;
