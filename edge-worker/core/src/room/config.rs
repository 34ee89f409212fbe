//! The operator's hand: create, change, pause, resume, open, close.

use serde_json::json;

use super::book::Book;
use super::phase::{Progress, Stage};
use super::{Memory, Refused, Restored, Room};
use crate::draw::Hash;
use crate::wire::entity_tag;
use crate::wire::{
    Action, AuditEntry, ConfigAnswer, EventConfig, Fault, Instant, Phase, PutConfig, PutConfigAnswer,
};

/// What a new event needs from the host: random bytes and the clock.
#[derive(Clone, Debug)]
pub struct Created {
    /// Fresh random id of the incarnation.
    pub inc: String,
    /// Fresh random secret of the draw.
    pub secret: Hash,
    /// Now.
    pub now: Instant,
}

impl Room {
    /// Creates an event. Its first writes hold everything.
    pub fn create(
        put: &PutConfig,
        created: Created,
    ) -> Result<(Self, PutConfigAnswer), Box<PutConfigAnswer>> {
        let config = EventConfig::parse(&put.event, put.body.as_bytes())
            .map_err(|faults| Box::new(PutConfigAnswer::Invalid { faults }))?;
        if let Some(wanted) = put.if_match.as_deref().filter(|tag| *tag != "*") {
            // Somebody means to replace a version of an event that is gone.
            return Err(Box::new(PutConfigAnswer::MatchFailed { etag: wanted.to_owned() }));
        }
        let Created { inc, secret, now } = created;
        let lanes = usize::from(config.lanes);
        let memory = Memory {
            event: put.event.clone(),
            inc,
            created_at: now,
            secret: hex::encode(secret),
            config,
            config_version: 1,
            progress: Progress::START,
            batches: 0,
            places: 0,
            serving: 0,
            version: 0,
            tick: 0,
            inventory: None,
        };
        let books = vec![Book::default(); lanes];
        let restored = Restored { memory, books, transcript: None, ended: Vec::new() };
        let mut room = Self::restore(restored, now).map_err(|error| {
            let detail = error.to_string();
            Box::new(PutConfigAnswer::Invalid { faults: vec![Fault { pointer: String::new(), detail }] })
        })?;
        for view in &mut room.lanes {
            view.changed = true;
        }
        room.audit(now, &put.actor, "create", json!({ "config": room.memory.config }));
        room.publish(now);
        let answer = PutConfigAnswer::Created(room.config_answer());
        Ok((room, answer))
    }

    /// Replaces the configuration, if the operator saw the one that stands.
    pub fn replace(&mut self, put: &PutConfig, now: Instant) -> PutConfigAnswer {
        let etag = etag_of(&self.memory.config);
        match put.if_match.as_deref() {
            None => return PutConfigAnswer::MatchRequired,
            Some(tags) if !tags.split(',').any(|tag| tag.trim() == "*" || tag.trim() == etag) => {
                return PutConfigAnswer::MatchFailed { etag };
            }
            Some(_) => {}
        }
        let next = match EventConfig::parse(&put.event, put.body.as_bytes()) {
            Ok(next) => next,
            Err(faults) => return PutConfigAnswer::Invalid { faults },
        };
        let stage = self.memory.progress.stage;
        let mut faults = self.memory.config.refuse_change(&next, stage > Stage::Before);
        if stage == Stage::Closed && next.closes_at != self.memory.config.closes_at {
            let detail = "cannot change: the room is closed".to_owned();
            faults.push(Fault { pointer: "/closes_at".to_owned(), detail });
        }
        if !faults.is_empty() {
            return PutConfigAnswer::Invalid { faults };
        }
        if next != self.memory.config {
            self.audit(now, &put.actor, "replace", json!({ "config": next }));
            if next.origin != self.memory.config.origin {
                self.forget_stock();
            }
            self.memory.config = next;
            self.memory.config_version = self.memory.config_version.saturating_add(1);
            self.publish(now);
        }
        PutConfigAnswer::Replaced(self.config_answer())
    }

    /// The configuration as it stands.
    pub fn config_answer(&self) -> ConfigAnswer {
        ConfigAnswer { config: self.memory.config.clone(), etag: etag_of(&self.memory.config) }
    }

    /// An operator's act. One that changes nothing is still written down: somebody meant it.
    pub fn act(&mut self, action: Action, actor: &str, now: Instant) -> Result<Phase, Refused> {
        self.memory.progress = self.memory.progress.advance(&self.memory.config, now);
        self.memory.progress = self.memory.progress.act(action, &self.memory.config, now)?;
        let phase = self.phase(now);
        let name = match action {
            Action::Pause => "pause",
            Action::Resume => "resume",
            Action::Open => "open",
            Action::Close => "close",
        };
        self.audit(now, actor, name, json!({ "phase": phase }));
        self.publish(now);
        Ok(phase)
    }

    fn audit(&mut self, at: Instant, actor: &str, action: &str, detail: serde_json::Value) {
        self.writes.audit.push(AuditEntry { at, actor: actor.to_owned(), action: action.to_owned(), detail });
    }
}

/// The entity tag of a configuration: of its content, so that the same configuration has the same tag after a restart.
pub fn etag_of(config: &EventConfig) -> String {
    entity_tag(&serde_json::to_vec(config).unwrap_or_default())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Registration from second 1, sale from second 10, end after an hour.
    pub(in crate::room) fn sample_body() -> serde_json::Value {
        json!({
            "title": "A concert", "registration_opens_at": "1970-01-01T00:00:01Z",
            "onsale_at": "1970-01-01T00:00:10Z", "closes_at": "1970-01-01T01:00:00Z", "lanes": 2,
            "admission": {"total_active_users": 10, "new_users_per_minute": 600}
        })
    }

    pub(in crate::room) fn sample_config() -> EventConfig {
        EventConfig::parse("evt_1", sample_body().to_string().as_bytes()).unwrap()
    }

    fn put(body: &serde_json::Value, if_match: Option<&str>) -> PutConfig {
        PutConfig {
            event: "evt_1".into(),
            body: body.to_string(),
            if_match: if_match.map(str::to_owned),
            actor: "admin".into(),
        }
    }

    fn created(now: u64) -> Created {
        Created { inc: "inc".into(), secret: [5; 32], now: Instant(now) }
    }

    #[test]
    fn replacing_needs_the_version_that_stands() {
        let (mut room, answer) = Room::create(&put(&sample_body(), None), created(0)).unwrap();
        let PutConfigAnswer::Created(first) = answer else { panic!("{answer:?}") };
        let mut body = sample_body();
        body["admission"]["total_active_users"] = json!(20);
        assert_eq!(room.replace(&put(&body, None), Instant(1)), PutConfigAnswer::MatchRequired);
        let stale = room.replace(&put(&body, Some("\"x\"")), Instant(1));
        assert_eq!(stale, PutConfigAnswer::MatchFailed { etag: first.etag.clone() });
        let PutConfigAnswer::Replaced(second) = room.replace(&put(&body, Some(&first.etag)), Instant(1))
        else {
            panic!("not replaced")
        };
        assert_ne!(first.etag, second.etag);
        assert_eq!(room.config().admission.total_active_users, 20);
        let again = room.replace(&put(&body, Some(&second.etag)), Instant(2));
        assert_eq!(again, PutConfigAnswer::Replaced(second), "a second call");
        let audit: Vec<String> = room.take_writes().audit.into_iter().map(|entry| entry.action).collect();
        assert_eq!(audit, ["create", "replace"]);
    }

    #[test]
    fn what_places_stand_on_cannot_change() {
        let (mut room, _) = Room::create(&put(&sample_body(), None), created(0)).unwrap();
        room.act(Action::Open, "admin", Instant(2_000)).unwrap();
        let mut body = sample_body();
        body["lanes"] = json!(3);
        body["onsale_at"] = json!("1970-01-01T00:00:20Z");
        let PutConfigAnswer::Invalid { faults } = room.replace(&put(&body, Some("*")), Instant(3_000)) else {
            panic!("accepted")
        };
        let pointers: Vec<&str> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(pointers, ["/lanes", "/onsale_at"]);
    }

    #[test]
    fn a_faulty_document_creates_nothing() {
        let refused = Room::create(&put(&json!({"title": 1}), None), created(0));
        let Err(refusal) = refused else { panic!("created") };
        assert!(matches!(*refusal, PutConfigAnswer::Invalid { .. }));
    }
}
