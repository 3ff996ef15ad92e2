//! A panic in a vendor's backend ends one request, not the service.
//!
//! Requirements: ERR-05.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

/// Returns the output of `future`, or the message of its panic.
pub(crate) async fn caught<F: Future>(mut future: Pin<&mut F>) -> Result<F::Output, String> {
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(said(panic.as_ref()))),
        },
    )
    .await
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    #[tokio::test]
    async fn err_05_a_panic_is_caught_also_after_a_pause() {
        assert_eq!(caught(pin!(async { 7 })).await, Ok(7));
        let later = async {
            tokio::task::yield_now().await;
            panic!("number {}", 7)
        };
        assert_eq!(
            caught(pin!(later)).await.map(|(): ()| ()),
            Err("number 7".to_owned())
        );
    }
}
