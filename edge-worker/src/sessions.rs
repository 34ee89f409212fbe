//! What this isolate knows of sessions and tickets it has verified.
//!
//! A signature is checked once a token and isolate; whether a session still lives is asked of its lane every half
//! minute. Nothing here is about one request.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_core::gate::{Recent, Sighting, Standing, standing};
use edge_core::lane::lane_of;
use edge_core::wire::{Ending, Liveness};
use shared_token::ids::Subject;
use shared_token::jws::TokenError;
use shared_token::{session, ticket};
use worker::Env;

use crate::config::Config;
use crate::gate_view::GateView;
use crate::objects::{CallError, LaneClient};
use crate::problem::Problem;
use crate::telemetry::{Counter, count, log};
use crate::timer::within;

/// Sessions remembered, about a kilobyte each: a few megabytes of an isolate's 128.
const SESSIONS_KEPT: usize = 2_000;
/// Tickets remembered, likewise: those who wait are many more than those who shop, and each looks every few seconds.
/// At most twice as many are held, 40 MB.
const TICKETS_KEPT: usize = 20_000;
/// An object answers within milliseconds; one that is being moved or restarted takes a second or two.
const OBJECT_TIMEOUT_MS: i32 = 5_000;

thread_local! {
    static SESSIONS: RefCell<Recent<Box<str>, Rc<Session>>> = RefCell::new(Recent::new(SESSIONS_KEPT));
    static LIVES: RefCell<Recent<Box<str>, Rc<Life>>> = RefCell::new(Recent::new(SESSIONS_KEPT));
    static TICKETS: RefCell<Recent<Box<str>, Rc<ticket::Claims>>> = RefCell::new(Recent::new(TICKETS_KEPT));
}

/// What the lane said of a session, whichever of its tokens is presented.
#[derive(Debug, Default)]
struct Life {
    confirmed_at_ms: Cell<Option<u64>>,
    ended: Cell<bool>,
}

/// A session whose signature holds. That says nothing about whether it lives.
#[derive(Debug)]
pub(crate) struct Session {
    /// The token as presented.
    pub(crate) token: Box<str>,
    /// Its claims.
    pub(crate) claims: session::Claims,
    life: Rc<Life>,
}

fn life_of(sid: &str) -> Rc<Life> {
    LIVES.with_borrow_mut(|lives| {
        if let Some(life) = lives.get(sid) {
            return Rc::clone(life);
        }
        let life = Rc::new(Life::default());
        lives.insert(sid.into(), Rc::clone(&life));
        life
    })
}

impl Session {
    /// A correctly signed session of any event, ended and expired ones included.
    pub(crate) fn verify(token: &str, config: &Config, now_ms: u64) -> Result<Rc<Self>, TokenError> {
        if let Some(session) =
            SESSIONS.with_borrow_mut(|sessions| sessions.get(token).map(|known| Rc::clone(known)))
        {
            return Ok(session);
        }
        let (keys, now) = (config.keys.key_set(), now_ms / 1000);
        let verified =
            session::verify_any_audience(token, keys, &config.issuer, now, session::Expiry::Ignored)?;
        let claims = verified.into_claims();
        let session = Rc::new(Self { token: token.into(), life: life_of(&claims.sid), claims });
        SESSIONS.with_borrow_mut(|sessions| sessions.insert(token.into(), Rc::clone(&session)));
        Ok(session)
    }

    /// Remembers a session this isolate has just signed on its lane's word.
    pub(crate) fn remember(token: &str, claims: session::Claims, now_ms: u64) {
        let session = Rc::new(Self { token: token.into(), life: life_of(&claims.sid), claims });
        session.life.confirmed_at_ms.set(Some(now_ms));
        SESSIONS.with_borrow_mut(|sessions| sessions.insert(token.into(), session));
    }

    /// How it stands, as far as this isolate knows.
    pub(crate) fn standing(&self, gate: &GateView, now_ms: u64) -> Standing {
        if self.claims.inc != gate.document.inc {
            return Standing::Ended;
        }
        let sighting = Sighting {
            exp: self.claims.exp,
            confirmed_at_ms: self.life.confirmed_at_ms.get(),
            ended: self.life.ended.get(),
        };
        standing(&sighting, gate.lists(&self.claims.sid), Some(gate.age_ms(now_ms)), now_ms)
    }

    /// Asks its lane whether it lives.
    pub(crate) async fn confirm(
        &self,
        env: &Env,
        config: &Config,
        gate: &GateView,
        now_ms: u64,
    ) -> Result<bool, Problem> {
        count(Counter::LaneConfirmations);
        let lane = self.lane(env, config, gate)?;
        match heard(lane.confirm(&self.claims.sid)).await? {
            Liveness::Live { .. } => self.life.confirmed_at_ms.set(Some(now_ms)),
            Liveness::Ended => self.life.ended.set(true),
        }
        Ok(!self.life.ended.get())
    }

    /// Ends it at its lane. Ending twice changes nothing, so one failure is answered by one repetition.
    pub(crate) async fn end(
        &self,
        env: &Env,
        config: &Config,
        gate: &GateView,
        how: Ending,
    ) -> Result<(), Problem> {
        let lane = self.lane(env, config, gate)?;
        if heard(lane.end(&self.claims.sid, how)).await.is_err() {
            heard(lane.end(&self.claims.sid, how)).await?;
        }
        self.life.ended.set(true);
        Ok(())
    }

    /// The lane that holds it.
    pub(crate) fn lane(&self, env: &Env, config: &Config, gate: &GateView) -> Result<LaneClient, Problem> {
        lane_for(env, config, gate, &self.claims.sub, &self.claims.aud)
    }
}

/// The lane of an identity.
pub(crate) fn lane_for(
    env: &Env,
    config: &Config,
    gate: &GateView,
    sub: &Subject,
    event: &shared_token::ids::EventId,
) -> Result<LaneClient, Problem> {
    let lane = lane_of(&sub.to_string(), gate.document.config.lanes, config.lane_key.as_bytes());
    LaneClient::new(env, event, lane).map_err(unavailable)
}

/// The claims of a ticket of this event whose signature holds. Until when it counts is the event's to say.
pub(crate) fn verify_ticket(
    token: &str,
    config: &Config,
    event: &shared_token::ids::EventId,
    now: u64,
) -> Result<Rc<ticket::Claims>, TokenError> {
    let known = TICKETS.with_borrow_mut(|tickets| tickets.get(token).map(|known| Rc::clone(known)));
    if let Some(claims) = known.filter(|claims| claims.aud == *event) {
        return Ok(claims);
    }
    let expected = session::Expected { iss: &config.issuer, aud: event, now };
    let claims = Rc::new(ticket::verify_even_expired(token, config.keys.key_set(), &expected)?.into_claims());
    TICKETS.with_borrow_mut(|tickets| tickets.insert(token.into(), Rc::clone(&claims)));
    Ok(claims)
}

/// The answer of an object, within a bound: whoever waits for it is told, and may ask again.
pub(crate) async fn heard<T>(call: impl Future<Output = Result<T, CallError>>) -> Result<T, Problem> {
    heard_within(OBJECT_TIMEOUT_MS, call).await
}

/// As [`heard`], with a bound of the caller's.
pub(crate) async fn heard_within<T>(
    ms: i32,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, Problem> {
    match within(ms, call).await {
        Some(answer) => answer.map_err(unavailable),
        None => Err(unavailable("no answer within the bound")),
    }
}

/// An object that did not answer.
pub(crate) fn unavailable(why: impl std::fmt::Display) -> Problem {
    log("object-call-failed", &why);
    Problem::room_unavailable()
}
