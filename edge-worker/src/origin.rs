//! The only caller of an origin.
//!
//! A request goes on as it came: method, query bytes, headers and body, streamed. Only our own three headers are ours:
//! what a client sent under their names is dropped. An answer comes back as it is, unless it carries a command.

use edge_core::wire::{Ending, Extended};
use js_sys::Promise;
use shared_token::session;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Request, Response};

use crate::events::event_state;
use crate::gate_view::GateView;
use crate::http::{Answer, Call, Failure, not_found, reads_the_same};
use crate::joins;
use crate::problem::{Kind, Problem};
use crate::sessions::{Session, heard};
use crate::telemetry::{Counter, count, log};

/// Carries the session to the origin, and a prolonged one back to the client.
const SESSION_HEADER: &str = "Fairgate-Session";
/// Tells the origin that a call came through us.
const EDGE_HEADER: &str = "Fairgate-Edge";
/// What the origin wants done with the session.
const COMMAND_HEADER: &str = "Fairgate-Command";
/// Until an origin's headers arrive: three times what it may take for a purchase (10 s).
const TIMEOUT_MS: i32 = 30_000;

#[wasm_bindgen(module = "/src/forward.js")]
extern "C" {
    /// Sends a client's request on; `undefined` if no answer came within the bound.
    #[wasm_bindgen(js_name = forward, catch)]
    fn forward_js(
        request: &Request,
        address: &str,
        edge: Option<&str>,
        session: Option<&str>,
        bound_ms: i32,
    ) -> Result<Promise, JsValue>;

    /// Sends a request of our own, likewise.
    #[wasm_bindgen(js_name = send, catch)]
    fn send_js(request: &Request, bound_ms: i32) -> Result<Promise, JsValue>;
}

/// Forwards to the event's origin.
pub(crate) async fn forward_for(call: &Call<'_>, gate: &GateView, session: Option<&Session>) -> Answer {
    let base = gate.document.config.origin.as_deref().unwrap_or(&call.config.origin);
    forward(call, base, session).await
}

/// Forwards to the origin at `base`, with the session if there is one, and obeys what the answer commands.
pub(crate) async fn forward(call: &Call<'_>, base: &str, session: Option<&Session>) -> Answer {
    if !reads_the_same(call.request.path()) {
        return Err(not_found());
    }
    let address = format!("{base}{}", call.request.target());
    let token = session.map(|session| &*session.token);
    let secret = secret_for(call, base);
    let answer = answered(forward_js(call.request.raw(), &address, secret, token, TIMEOUT_MS)?).await?;
    match answer.headers().get(COMMAND_HEADER)? {
        None => Ok(answer),
        Some(command) => obey(call, answer, &command, session).await,
    }
}

/// The deployment's own origin is told that a call came through us. Another one, which an event names, would learn what
/// to say to the first.
fn secret_for<'a>(call: &'a Call<'_>, base: &str) -> Option<&'a str> {
    (base == call.config.origin).then_some(&*call.config.edge_secret)
}

/// What comes of a request that is on its way, or a problem.
async fn answered(sent: Promise) -> Result<Response, Problem> {
    count(Counter::OriginCalls);
    let failed = match JsFuture::from(sent).await {
        Ok(response) if !response.is_undefined() => return Ok(response.unchecked_into()),
        Ok(_) => {
            log("origin-timeout", &"no answer within the bound");
            Problem::new(Kind::OriginTimeout, "The booking service did not answer in time.").retry_after(5)
        }
        Err(error) => {
            log("origin-unreachable", &format!("{error:?}"));
            Problem::new(Kind::OriginUnreachable, "The booking service cannot be reached.").retry_after(2)
        }
    };
    count(Counter::OriginFailures);
    Err(failed)
}

/// A request of our own for what stands at `target` (path and query) of the origin at `base`: the same for everyone, so
/// it carries nothing of a client. 304 if it is still what `known` names.
pub(crate) async fn fetch_copy(
    call: &Call<'_>,
    base: &str,
    target: &str,
    encoding: &str,
    known: Option<&str>,
) -> Result<Response, Failure> {
    let address = format!("{base}{target}");
    let headers = web_sys::Headers::new()?;
    if let Some(secret) = secret_for(call, base) {
        headers.set(EDGE_HEADER, secret)?;
    }
    headers.set("Accept-Encoding", encoding)?;
    if let Some(etag) = known {
        headers.set("If-None-Match", etag)?;
    }
    let init = web_sys::RequestInit::new();
    init.set_headers(&headers);
    // The bytes stay as the origin compressed them, to be served like that.
    js_sys::Reflect::set(&init, &"encodeResponseBody".into(), &"manual".into())?;
    js_sys::Reflect::set(&init, &"redirect".into(), &"manual".into())?;
    Ok(answered(send_js(&Request::new_with_str_and_init(&address, &init)?, TIMEOUT_MS)?).await?)
}

/// A command as the origin writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Extend { seconds: u64 },
    End(Ending),
}

impl Command {
    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "complete" => Some(Self::End(Ending::Completed)),
            "revoke" => Some(Self::End(Ending::Revoked)),
            text => text.strip_prefix("extend=")?.parse().ok().map(|seconds| Self::Extend { seconds }),
        }
    }
}

/// Carries the command out; the client never sees it. A command that fails does not fail the answer, which stands.
async fn obey(call: &Call<'_>, answer: Response, command: &str, session: Option<&Session>) -> Answer {
    // An answer's headers can only be changed in a copy of it; the body is handed on, not read.
    let init: &web_sys::ResponseInit = answer.unchecked_ref();
    let answer = Response::new_with_opt_readable_stream_and_init(answer.body().as_ref(), init)?;
    let headers = answer.headers();
    headers.delete(COMMAND_HEADER)?;
    let Some(session) = session else { return Ok(answer) };
    let Some(command) = Command::parse(command) else {
        log("unknown-command", &command);
        return Ok(answer);
    };
    match carry_out(call, session, command).await {
        Ok(None) => {}
        Ok(Some(token)) => {
            headers.set(SESSION_HEADER, &token)?;
            headers.append("Set-Cookie", &call.session_cookie(session.claims.aud.as_str(), &token))?;
        }
        Err(problem) => log("command-failed", &format!("{command:?}: {}", problem.kind().slug())),
    }
    Ok(answer)
}

/// Ends or prolongs the session at its lane; the prolonged token, if there is one.
async fn carry_out(call: &Call<'_>, session: &Session, command: Command) -> Result<Option<String>, Problem> {
    let gate = event_state(&session.claims.aud).gate(call).await?;
    if gate.document.inc != session.claims.inc {
        return Ok(None);
    }
    match command {
        Command::End(how) => {
            if let Some(cnf) = &session.claims.cnf {
                joins::forget(&session.claims.aud, &cnf.jkt);
            }
            session.end(call.env, &call.config, &gate, how).await.map(|()| None)
        }
        Command::Extend { seconds } => {
            let lane = session.lane(call.env, &call.config, &gate)?;
            match heard(lane.extend(&session.claims.sid, session.claims.exp, seconds)).await? {
                Extended::Ended => Ok(None),
                Extended::Prolonged { iat, exp, batch } => {
                    let claims = session::Claims { iat, exp, batch, ..session.claims.clone() };
                    let token = session::sign(&claims, &call.config.keys);
                    Session::remember(&token, claims, call.now.0);
                    Ok(Some(token))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_strictly() {
        assert_eq!(Command::parse("extend=600"), Some(Command::Extend { seconds: 600 }));
        assert_eq!(Command::parse(" complete "), Some(Command::End(Ending::Completed)));
        assert_eq!(Command::parse("revoke"), Some(Command::End(Ending::Revoked)));
        for text in ["", "extend", "extend=", "extend=-1", "extend=1.5", "Complete", "extend=1, complete"] {
            assert_eq!(Command::parse(text), None, "{text:?}");
        }
    }
}
