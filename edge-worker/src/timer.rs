//! Waiting for a while.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures::future::{Either, select};
use js_sys::Promise;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::WorkerGlobalScope;

/// Ready after a while; forgotten by the runtime when dropped.
///
/// `worker::Delay` wakes whoever polled it first. A request's first poll is made before it has a waker (see `fetch`),
/// so this one is a promise, which wakes whoever polled it last.
#[derive(Debug)]
pub(crate) struct Timer {
    elapsed: JsFuture,
    id: i32,
}

impl Timer {
    /// Ready in `ms` milliseconds.
    pub(crate) fn after_ms(ms: i32) -> Self {
        let mut id = 0;
        let elapsed = Promise::new(&mut |resolve, _| {
            // Without a timer the promise never resolves, which is what a bound that is not needed does anyway.
            id = scope()
                .set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms)
                .unwrap_or_default();
        });
        Self { elapsed: JsFuture::from(elapsed), id }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.elapsed).poll(context).map(|_| ())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        scope().clear_timeout_with_handle(self.id);
    }
}

/// What comes of `work` within `ms` milliseconds.
pub(crate) async fn within<T>(ms: i32, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), Timer::after_ms(ms)).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

fn scope() -> WorkerGlobalScope {
    js_sys::global().unchecked_into()
}
