//! The edge Worker: the waiting room and the gate in front of a booking service.
//!
//! Scope: I/O around the rules of `edge-core`: requests and answers (`http`), the objects' shells and the calls to them
//! (`objects`), the calls to an origin (`origin`), what one isolate remembers (`events`, `sessions`, `joins`, `copied`).
//!
//! Not here: rules. Who is next, which route is protected and whether a session still shops are decided in `edge-core`;
//! tokens and proofs are checked in `shared-token`.
//!
//! Invariant: no state is about one request. What outlives a handler is keyed by event, token or key, so two requests
//! in one isolate cannot meet each other's answers.

mod clock;
mod config;
mod copied;
mod events;
mod gate_view;
mod http;
mod joins;
mod objects;
mod origin;
mod problem;
mod random;
mod sessions;
mod telemetry;
mod timer;

use std::task::{Context, Poll, Waker};

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;
use worker::Env;
use worker::worker_sys::Context as FetchContext;

/// Every request enters here.
///
/// Most answers need no I/O: a request turned away, a copy at hand. Those are given at once, without a promise and two
/// turns of the microtask queue, which would cost more than the answer; that is all that `#[event(fetch)]` would do
/// differently. Polling again after a first poll without a waker is sound: whatever is awaited wakes its last poller.
///
/// A write goes on when its client leaves: the origin may already have sold, and what it commands then (see `origin`)
/// frees a slot for the next fan.
#[wasm_bindgen]
pub fn fetch(request: web_sys::Request, env: Env, context: FetchContext) -> Result<JsValue, JsValue> {
    let writes = !matches!(&*request.method(), "GET" | "HEAD" | "OPTIONS");
    let mut answer = Box::pin(http::respond(request, env));
    match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.map(JsValue::from),
        Poll::Pending => {
            let promise = future_to_promise(async move { answer.await.map(JsValue::from) });
            if writes {
                context.wait_until(&promise)?;
            }
            Ok(promise.into())
        }
    }
}
