//! Reading the operator's document: the only way to get a configuration from outside.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reader::Reader;
use super::{Admission, EventConfig, Fault, Instant, MAX_LANES, Pow, Proof, Protect, Route};

/// Admitted shoppers at most: far above any booking tier, low enough that every total fits a JSON number.
const MAX_ACTIVE: u64 = 10_000_000;
/// Longest session: a day.
const MAX_SESSION_SECONDS: u64 = 86_400;
/// Puzzle numbers are hashed as one byte; 64 bring the spread of solving time to an eighth of the mean.
const MAX_PUZZLES: u64 = 64;
/// 2^32 expected hashes a puzzle is minutes of native work: beyond any price worth asking.
const MAX_DIFFICULTY: u64 = 1 << 32;
/// Rules one event may have: the gate tries each in turn before it forwards.
const MAX_ROUTES: usize = 100;
/// Texts an operator writes for fans.
const MAX_TEXT: usize = 2_000;
/// A path pattern or address.
const MAX_PATH: usize = 500;

/// Reads the document, naming every fault.
pub(super) fn read(id: &str, body: &[u8]) -> Result<EventConfig, Vec<Fault>> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| vec![Fault { pointer: String::new(), detail: format!("is not JSON: {error}") }])?;
    let mut faults = Vec::new();
    match event(id, value, &mut faults) {
        Some(config) if faults.is_empty() => Ok(config),
        _ => Err(faults),
    }
}

fn event(id: &str, value: Value, faults: &mut Vec<Fault>) -> Option<EventConfig> {
    let mut reader = Reader::new("", value, faults);
    let title = reader.required("title", |r| r.text("title", 200));
    let registration_opens_at = instant(&mut reader, "registration_opens_at");
    let onsale_at = instant(&mut reader, "onsale_at");
    let closes_at = instant(&mut reader, "closes_at");
    if let (Some(from), Some(to)) = (registration_opens_at, onsale_at)
        && from > to
    {
        reader.fault("onsale_at", "must not lie before registration_opens_at");
    }
    if let (Some(from), Some(to)) = (onsale_at, closes_at)
        && from >= to
    {
        reader.fault("closes_at", "must lie after onsale_at");
    }
    let lanes = reader.integer("lanes", 1, u64::from(MAX_LANES)).unwrap_or(16);
    let admission = reader.required("admission", |r| r.take("admission"));
    let pointer = reader.at("admission");
    let admission = admission.and_then(|value| admission_of(Reader::new(&pointer, value, reader.faults())));
    let protect = routes(&mut reader, "protect").into_iter().map(|(route, proof)| Protect {
        path: route.path,
        methods: route.methods,
        proof: proof.unwrap_or(Proof::Dpop),
    });
    let protect: Vec<Protect> = protect.collect();
    refuse_unreachable(id, &protect, &mut reader);
    let bypass = routes(&mut reader, "bypass").into_iter().map(|(route, _)| route).collect();
    let origin = origin(&mut reader);
    let pow = pow(&mut reader);
    for later in ["accounts", "beacon"] {
        if reader.take(later).is_some() {
            reader.fault(later, "is not available yet; leave it null");
        }
    }
    let message = message(&mut reader);
    reader.finish();
    Some(EventConfig {
        title: title?,
        registration_opens_at: registration_opens_at?,
        onsale_at: onsale_at?,
        closes_at: closes_at?,
        lanes: u16::try_from(lanes).ok()?,
        admission: admission?,
        protect,
        bypass,
        origin,
        pow,
        accounts: None,
        beacon: None,
        message,
    })
}

fn instant(reader: &mut Reader<'_>, name: &str) -> Option<Instant> {
    let text = reader.required(name, |r| r.text(name, 64))?;
    let moment = Instant::parse(&text);
    if moment.is_none() {
        reader.fault(name, "must be an RFC 3339 date-time such as 2027-06-05T17:30:00Z");
    }
    moment
}

fn admission_of(mut reader: Reader<'_>) -> Option<Admission> {
    let total = reader.required("total_active_users", |r| r.integer("total_active_users", 0, MAX_ACTIVE));
    let rate = reader.required("new_users_per_minute", |r| r.integer("new_users_per_minute", 0, MAX_ACTIVE));
    let session = reader.integer("session_seconds", 1, MAX_SESSION_SECONDS).unwrap_or(900);
    let longest = reader.integer("session_max_seconds", 1, MAX_SESSION_SECONDS).unwrap_or(session.max(3600));
    if longest < session {
        reader.fault("session_max_seconds", "must not be below session_seconds");
    }
    let compensation = reader.boolean("no_show_compensation").unwrap_or(true);
    reader.finish();
    Some(Admission {
        total_active_users: total?,
        new_users_per_minute: rate?,
        session_seconds: session,
        session_max_seconds: longest,
        no_show_compensation: compensation,
    })
}

fn routes(reader: &mut Reader<'_>, list: &str) -> Vec<(Route, Option<Proof>)> {
    let entries = reader.array(list, MAX_ROUTES).unwrap_or_default();
    let pointer = reader.at(list);
    let mut routes = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        // A bare path is short for a route with all methods.
        let entry = match entry {
            Value::String(path) => serde_json::json!({ "path": path }),
            other => other,
        };
        let entry = Reader::new(&format!("{pointer}/{index}"), entry, reader.faults());
        routes.extend(route(entry, list == "protect"));
    }
    routes
}

fn route(mut reader: Reader<'_>, proves: bool) -> Option<(Route, Option<Proof>)> {
    let path = reader.required("path", |r| r.text("path", MAX_PATH));
    if path.as_ref().is_some_and(|path| !path.starts_with('/')) {
        reader.fault("path", "must begin with /");
    }
    let mut methods = Vec::new();
    for (index, method) in reader.array("methods", 16).unwrap_or_default().into_iter().enumerate() {
        match method {
            Value::String(name) if !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase()) => {
                methods.push(name);
            }
            _ => reader.fault_of_entry("methods", index, "must be a method in upper case"),
        }
    }
    let mut proof = None;
    if proves {
        proof = match reader.text("proof", 16).as_deref() {
            None | Some("dpop") => Some(Proof::Dpop),
            Some("none") => Some(Proof::None),
            Some(_) => {
                reader.fault("proof", "must be dpop or none");
                None
            }
        };
    }
    reader.finish();
    Some((Route { path: path?, methods }, proof))
}

/// A rule that matches no address of its event protects nothing, which its author would learn from strangers.
fn refuse_unreachable(event: &str, protect: &[Protect], reader: &mut Reader<'_>) {
    let root = format!("/v1/events/{event}");
    let below = format!("{root}/");
    let pointer = reader.at("protect");
    for (index, rule) in protect.iter().enumerate() {
        if rule.path.starts_with('/') && !reaches(&rule.path, &root) {
            let detail = format!("can match no address of this event: those begin with {root}/");
            reader.faults().push(Fault { pointer: format!("{pointer}/{index}/path"), detail });
        } else if rule.path.strip_prefix(&below).is_some_and(is_our_own) {
            let detail =
                "can only match what the waiting room itself answers, which needs no session".to_owned();
            reader.faults().push(Fault { pointer: format!("{pointer}/{index}/path"), detail });
        }
    }
}

/// Whether an address below the event's is one that never reaches an origin. The map and the layout are not among
/// them: a rule on those turns strangers away from the copies.
fn is_our_own(tail: &str) -> bool {
    let own = ["room", "queue", "queue/me", "challenge", "admission", "session", "draw"];
    own.contains(&tail) || tail.starts_with("batches/")
}

/// Whether the pattern matches `root` or anything below it.
fn reaches(pattern: &str, root: &str) -> bool {
    let below = format!("{root}/");
    match pattern.split_once('*') {
        Some((head, _)) => below.starts_with(head) || head.starts_with(&below),
        None => pattern == root || pattern.starts_with(&below),
    }
}

fn origin(reader: &mut Reader<'_>) -> Option<String> {
    let address = reader.text("origin", MAX_PATH)?;
    let host = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let sound = host.is_some_and(|host| {
        let authority = host.trim_end_matches('/');
        !authority.is_empty() && !authority.contains(['/', '?', '#', '@', ' ', '\\'])
    });
    if !sound {
        reader.fault("origin", "must be http:// or https:// and a host, without a path");
        return None;
    }
    Some(address.trim_end_matches('/').to_owned())
}

fn pow(reader: &mut Reader<'_>) -> Pow {
    let pointer = reader.at("pow");
    let Some(value) = reader.take("pow") else { return Pow { puzzles: 32, difficulty: 8192 } };
    let mut reader = Reader::new(&pointer, value, reader.faults());
    let puzzles = reader.integer("puzzles", 1, MAX_PUZZLES).and_then(|n| u8::try_from(n).ok()).unwrap_or(32);
    let difficulty = reader.integer("difficulty", 1, MAX_DIFFICULTY).unwrap_or(8192);
    reader.finish();
    Pow { puzzles, difficulty }
}

fn message(reader: &mut Reader<'_>) -> BTreeMap<String, String> {
    let pointer = reader.at("message");
    let Some(value) = reader.take("message") else { return BTreeMap::new() };
    let languages: Vec<String> = value.as_object().map(|m| m.keys().cloned().collect()).unwrap_or_default();
    let mut reader = Reader::new(&pointer, value, reader.faults());
    let mut message = BTreeMap::new();
    for language in languages {
        if let Some(text) = reader.text(&language, MAX_TEXT) {
            message.insert(language, text);
        }
    }
    reader.finish();
    message
}
