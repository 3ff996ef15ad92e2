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
pub(crate) async fn catch_panic<F: Future>(mut future: Pin<&mut F>) -> Result<F::Output, String> {
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic_message(panic.as_ref()))),
        },
    )
    .await
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
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
        assert_eq!(catch_panic(pin!(async { 7 })).await, Ok(7));
        let later = async {
            tokio::task::yield_now().await;
            panic!("number {}", 7)
        };
        assert_eq!(
            catch_panic(pin!(later)).await.map(|(): ()| ()),
            Err("number 7".to_owned())
        );
    }
}
