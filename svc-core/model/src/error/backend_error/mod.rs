//! The error type of backend operations.

mod boxed;

use std::{borrow::Cow, error::Error as StdError, fmt, time::Duration};

use super::{Problem, PropertyPath};

/// The source of an unexpected error, as [`Error::unexpected`] accepts it.
type BoxedSource = Box<dyn StdError + Send + Sync>;

/// The result of a backend operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error returned by a backend operation.
///
/// Any error type of the backend converts into an unexpected error with `?`. Its text is logged and
/// never sent to the client. For this reason `Error` does not implement [`std::error::Error`]; it
/// converts into a boxed one. A program whose `main` returns [`Result`] prints the error in plain
/// English, followed by its causes.
///
/// # Examples
///
/// ```
/// use std::num::ParseIntError;
/// use svc_core::{ErrorCode, Error, ErrorKind, Problem, Result};
///
/// fn seats(stored: &str) -> Result<u32> {
///     match stored.parse()? {
///         0 => Err(Error::invalid(Problem::for_request(ErrorCode::CapacityExceeded, "The event is full."))),
///         seats => Ok(seats),
///     }
/// }
///
/// let full = seats("0").unwrap_err();
/// assert_eq!(full.problems()[0].code, ErrorCode::CapacityExceeded);
///
/// let broken = seats("seven").unwrap_err().with_operation("attendances.create");
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

/// The category of an [`Error`], which determines the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request violates rules that only the store can check: 400 with every problem.
    ///
    /// Requirements: ERR-12, ERR-14.
    Invalid(Vec<Problem>),
    /// The addressed record or container does not exist for this tenant: 404.
    ///
    /// Requirements: UND-37.
    NotFound,
    /// The record was changed concurrently: see `UpdateRequest::expected_state`.
    ///
    /// The library reads the record again and retries. If that fails, the response is 503.
    Conflict,
    /// A precondition of the request is not met: 412.
    ///
    /// Requirements: ETG-07.
    PreconditionFailed,
    /// The database rolled the transaction back, for example because of a deadlock or a
    /// serialization failure.
    ///
    /// If `Transactions` are registered, the library retries the request up to ten times.
    /// Otherwise, or if that fails, the response is 503.
    RolledBack,
    /// The store is temporarily unavailable: 503 with `Retry-After`.
    ///
    /// Requirements: UND-36.
    Unavailable {
        /// The time after which the client may retry; the header rounds it up to whole seconds.
        retry_after: Duration,
    },
    /// The backend does not support the operation: 500 `NOT_IMPLEMENTED`.
    ///
    /// Requirements: ERR-07.
    NotImplemented,
    /// Any other error: 500 with a `reference_code`.
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

    /// Creates the error of a request with one problem: 400.
    ///
    /// Requirements: ERR-12.
    #[must_use]
    pub fn invalid(problem: Problem) -> Self {
        Self::invalid_all(vec![problem])
    }

    /// Creates the error of a request with several problems: 400 with all of them.
    ///
    /// Requirements: ERR-14.
    #[must_use]
    pub fn invalid_all(problems: Vec<Problem>) -> Self {
        Self::new(ErrorKind::Invalid(problems))
    }

    /// Creates the error of a record or container that does not exist for this tenant: 404.
    ///
    /// Requirements: UND-37.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(ErrorKind::NotFound)
    }

    /// Creates the error of a record that was changed concurrently.
    #[must_use]
    pub fn conflict() -> Self {
        Self::new(ErrorKind::Conflict)
    }

    /// Creates the error of a precondition that is not met: 412.
    ///
    /// Requirements: ETG-07.
    #[must_use]
    pub fn precondition_failed() -> Self {
        Self::new(ErrorKind::PreconditionFailed)
    }

    /// Creates the error of a transaction that the database rolled back. A retry may succeed.
    #[must_use]
    pub fn rolled_back() -> Self {
        Self::new(ErrorKind::RolledBack)
    }

    /// Creates the error of a temporarily unavailable store: 503. The client may retry after
    /// `retry_after`.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn unavailable(retry_after: Duration) -> Self {
        Self::new(ErrorKind::Unavailable { retry_after })
    }

    /// Creates the error of an operation that the backend does not support: 500 `NOT_IMPLEMENTED`.
    ///
    /// Requirements: ERR-07.
    #[must_use]
    pub fn not_implemented() -> Self {
        Self::new(ErrorKind::NotImplemented)
    }

    /// Creates an unexpected error from an error or from a text for the log: 500 with a
    /// `reference_code`.
    ///
    /// Requirements: ERR-05, ERR-06.
    pub fn unexpected(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(ErrorKind::Unexpected).with_source(source)
    }

    /// Adds a cause for the log.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Replaces another error. Takes its cause, operation and address unless this error has its
    /// own.
    #[must_use]
    pub fn with_context_of(mut self, other: Self) -> Self {
        let (mine, theirs) = (&mut *self.0, *other.0);
        mine.source = mine.source.take().or(theirs.source);
        mine.operation = mine.operation.take().or(theirs.operation);
        mine.address = mine.address.take().or(theirs.address);
        self
    }

    /// Adds the operation that failed, such as `people.create`, for the log.
    #[must_use]
    pub fn with_operation(mut self, operation: impl Into<Cow<'static, str>>) -> Self {
        self.0.operation = Some(operation.into());
        self
    }

    /// Adds the address of the record that caused the error, for the log.
    #[must_use]
    pub fn with_address(mut self, address: impl Into<Cow<'static, str>>) -> Self {
        self.0.address = Some(address.into());
        self
    }

    /// Prefixes the properties of all problems with a part of the body, so that a problem of a
    /// helper's person is named `person.<property>`.
    ///
    /// Requirements: ERR-26.
    #[must_use]
    pub fn with_path_prefix(self, part: impl Into<PropertyPath>) -> Self {
        let part = part.into();
        self.map_problems(|problems| {
            problems
                .into_iter()
                .map(|problem| problem.within(&part))
                .collect()
        })
    }

    /// Replaces the problems of an invalid request; other errors remain unchanged.
    #[must_use]
    pub fn map_problems(mut self, change: impl FnOnce(Vec<Problem>) -> Vec<Problem>) -> Self {
        if let ErrorKind::Invalid(problems) = &mut self.0.kind {
            *problems = change(std::mem::take(problems));
        }
        self
    }

    /// Returns the category of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the category of the error without its context.
    #[must_use]
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the problems of an invalid request.
    ///
    /// # Errors
    ///
    /// Returns the error itself if it is not an invalid request.
    pub fn into_problems(self) -> Result<Vec<Problem>> {
        match *self.0 {
            ErrorInner {
                kind: ErrorKind::Invalid(problems),
                ..
            } => Ok(problems),
            other => Err(Self(Box::new(other))),
        }
    }

    /// Returns the problems of an invalid request; empty for other errors.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match &self.0.kind {
            ErrorKind::Invalid(problems) => problems,
            _ => &[],
        }
    }

    /// Returns whether the request is invalid.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Invalid(_))
    }

    /// Returns whether the addressed record or container does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.0.kind == ErrorKind::NotFound
    }

    /// Returns whether the record was changed concurrently.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.0.kind == ErrorKind::Conflict
    }

    /// Returns whether a precondition of the request is not met.
    #[must_use]
    pub fn is_precondition_failed(&self) -> bool {
        self.0.kind == ErrorKind::PreconditionFailed
    }

    /// Returns whether the database rolled the transaction back.
    #[must_use]
    pub fn is_rolled_back(&self) -> bool {
        self.0.kind == ErrorKind::RolledBack
    }

    /// Returns whether the store is temporarily unavailable.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Unavailable { .. })
    }

    /// Returns whether the error is unexpected, which means that it has no category of its own.
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        self.0.kind == ErrorKind::Unexpected
    }

    /// Returns the cause, for example the error of a database driver.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }

    /// Returns the operation that failed, if known.
    #[must_use]
    pub fn operation(&self) -> Option<&str> {
        self.0.operation.as_deref()
    }

    /// Returns the address of the record that caused the error, if known.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.0.address.as_deref()
    }

    /// Returns the causes that the text of the error does not already contain.
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

/// Plain English without values of the request. Problems are shown by their codes and property
/// names.
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
            Self::Conflict => f.write_str("concurrent modification"),
            Self::PreconditionFailed => f.write_str("a precondition is not met"),
            Self::RolledBack => f.write_str("transaction rolled back by the database"),
            Self::Unavailable { retry_after } => {
                write!(f, "unavailable, try again in {retry_after:?}")
            }
            Self::NotImplemented => f.write_str("not supported"),
            Self::Unexpected => f.write_str("unexpected error"),
        }
    }
}

/// Plain English; `{:#}` adds the causes on the same line.
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

/// Plain English with the causes, as `main` prints it; `{:#?}` shows the fields.
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

/// Converts any error of the backend into an unexpected one.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self::unexpected(error)
    }
}

#[cfg(test)]
mod tests;
