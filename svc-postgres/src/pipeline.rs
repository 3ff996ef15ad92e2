//! Statements with their values, sent one after another without waiting in between.

use std::{
    borrow::Cow,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::future::{MaybeDone, maybe_done};
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

/// A value of a statement with its type. An unnamed statement is planned before the server knows
/// the values.
pub(crate) struct SqlValue {
    pub(crate) value: Box<dyn ToSql + Sync + Send>,
    pub(crate) type_: Type,
}

/// A Rust type that can be the value of a statement.
pub(crate) trait HasSqlType: ToSql + Sync + Send + 'static {
    /// Its type in the database.
    const TYPE: Type;
}

macro_rules! typed {
    ($($rust:ty => $one:ident, $many:ident;)+) => { $(
        impl HasSqlType for $rust { const TYPE: Type = Type::$one; }
        impl HasSqlType for Option<$rust> { const TYPE: Type = Type::$one; }
        impl HasSqlType for Vec<$rust> { const TYPE: Type = Type::$many; }
        impl HasSqlType for Vec<Option<$rust>> { const TYPE: Type = Type::$many; }
    )+ };
}

typed! {
    i16 => INT2, INT2_ARRAY;
    i32 => INT4, INT4_ARRAY;
    i64 => INT8, INT8_ARRAY;
    bool => BOOL, BOOL_ARRAY;
    String => TEXT, TEXT_ARRAY;
    Uuid => UUID, UUID_ARRAY;
    Vec<u8> => BYTEA, BYTEA_ARRAY;
}

impl<T: HasSqlType> From<T> for SqlValue {
    fn from(value: T) -> Self {
        Self {
            value: Box::new(value),
            type_: T::TYPE,
        }
    }
}

/// The values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::pipeline::SqlValue::from($value)),*] };
}
pub(crate) use values;

/// The values of a statement about several rows: one array per field, with the values of all rows.
/// The rows are structs or tuples, whose fields are moved out.
macro_rules! columns {
    ($rows:expr; $($field:tt),+ $(,)?) => {
        vec![$($crate::pipeline::SqlValue::from(
            $rows.iter_mut().map(|row| std::mem::take(&mut row.$field)).collect::<Vec<_>>()
        )),+]
    };
}
pub(crate) use columns;

/// Returns the values of a statement from parts. The tenant comes first.
pub(crate) fn of_tenant<const N: usize>(tenant: i64, parts: [Vec<SqlValue>; N]) -> Vec<SqlValue> {
    std::iter::once(SqlValue::from(tenant))
        .chain(parts.into_iter().flatten())
        .collect()
}

/// One statement to execute.
pub(crate) struct SqlQuery<'a> {
    pub(crate) text: Cow<'a, str>,
    /// `None` for a text without values and results, which may contain several statements, such as
    /// `BEGIN; SET LOCAL …`.
    pub(crate) values: Option<Vec<SqlValue>>,
}

impl<'a> SqlQuery<'a> {
    /// Creates a statement with its values.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, values: Vec<SqlValue>) -> Self {
        Self {
            text: text.into(),
            values: Some(values),
        }
    }

    /// Creates a statement that begins or ends a transaction.
    pub(crate) fn control(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: text.into(),
            values: None,
        }
    }
}

/// Runs futures whose first poll sends a statement, and whose results arrive in the order of these
/// polls. All are polled once in order, and then each is awaited in turn. Returns their results.
pub(crate) async fn in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Pin<Box<MaybeDone<F>>>> =
        futures.map(|future| Box::pin(maybe_done(future))).collect();
    let mut first = true;
    poll_fn(|cx: &mut Context<'_>| {
        let mut waits = false;
        for one in &mut all {
            if (first || !waits) && one.as_mut().poll(cx).is_pending() {
                waits = true;
            }
        }
        first = false;
        if waits {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    all.iter_mut()
        .filter_map(|one| one.as_mut().take_output())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, task::Waker};

    use super::*;

    /// All are started in order before any is awaited, and those after a pending one are not polled
    /// again.
    #[test]
    fn all_are_begun_in_order() {
        let begun = RefCell::new(Vec::new());
        let one = |number: usize| {
            let begun = &begun;
            let mut polls = 0;
            poll_fn(move |_| {
                begun.borrow_mut().push(number);
                polls += 1;
                if number == 40 && polls == 1 {
                    Poll::Pending
                } else {
                    Poll::Ready(number)
                }
            })
        };
        let mut all = std::pin::pin!(in_order((0..50).map(one)));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(all.as_mut().poll(&mut cx).is_pending());
        assert_eq!(*begun.borrow(), (0..50).collect::<Vec<_>>());
        assert_eq!(all.as_mut().poll(&mut cx), Poll::Ready((0..50).collect()));
        assert_eq!(begun.borrow().len(), 51);
    }
}
