//! The provider: idempotency in front of the book, events and journal records behind it.

use serde_json::Value;

use super::book::Book;
use super::command::{Command, Create};
use super::error::ApiError;
use super::exchange::{Moment, Pending, Record, Reply, Step};
use super::form::Form;
use super::idempotency::{Answer, Begun, Keys};
use super::intent::{Intent, State};
use super::method::Behaviour;
use super::refund::Refund;
use super::webhook::Event;

/// All state behind the API.
#[derive(Debug, Default)]
pub struct Provider {
    /// Intents and refunds.
    pub book: Book,
    keys: Keys,
    events: Vec<Event>,
    records: Vec<Record>,
}

impl Provider {
    /// Executes a POST.
    pub fn post(&mut self, key: Option<&str>, path: &str, body: &[u8], moment: &Moment) -> Step {
        let form = match Form::parse(body) {
            Ok(form) => form,
            Err(error) => return refused(&error),
        };
        if let Some(key) = key {
            match self.keys.begin(key, &format!("POST {path} {}", form.canonical())) {
                Ok(Begun::Fresh) => {}
                Ok(Begun::Replay(answer)) => return Step::Answer { answer, replayed: true },
                Err(error) => return refused(&error),
            }
        }
        // A request that fails validation never began to execute, so its key is free again.
        let command = match Command::parse(path, form).and_then(|command| self.check_target(command)) {
            Ok(command) => command,
            Err(error) => {
                if let Some(key) = key {
                    self.keys.abandon(key);
                }
                return refused(&error);
            }
        };
        match self.apply(command, key, moment) {
            Reply::Now(Ok(body)) => self.finish(key, Answer { status: 200, body }),
            Reply::Now(Err(error)) => self.finish(key, Answer { status: error.status(), body: error.body() }),
            Reply::Lost(body) => {
                self.finish(key, Answer { status: 200, body });
                Step::Hang
            }
            Reply::Silent => Step::Hang,
            Reply::After(delay, pending) => Step::Wait { delay, pending },
        }
    }

    /// The issuer of a slow card answered.
    pub fn settle(&mut self, pending: Pending) -> Step {
        let authorized = self.change(&pending.intent, |intent| intent.authorize(pending.card));
        let answer = match authorized {
            Ok(intent) => Answer { status: 200, body: intent.to_json(pending.expand) },
            Err(error) => Answer { status: error.status(), body: error.body() },
        };
        self.finish(pending.key.as_deref(), answer)
    }

    /// After a restart, issuers that were being asked have answered.
    pub fn settle_interrupted(&mut self) {
        for id in self.book.processing() {
            let _settled = self.change(&id, |intent| match &intent.state {
                State::Processing { card } => intent.authorize(card.clone()),
                _ => Ok(()),
            });
        }
    }

    /// Restores a journal record.
    pub fn restore(&mut self, record: Record) {
        match record {
            Record::Intent(intent) => self.book.put_intent(*intent),
            Record::Refund(refund) => self.book.put_refund(refund),
            Record::Key { key, entry } => self.keys.restore(key, entry),
        }
    }

    /// What happened since the last call: events to deliver and records to write.
    pub fn drain(&mut self) -> (Vec<Event>, Vec<Record>) {
        (std::mem::take(&mut self.events), std::mem::take(&mut self.records))
    }

    fn check_target(&self, command: Command) -> Result<Command, ApiError> {
        match &command {
            Command::Create(_) => {}
            Command::Confirm { intent, .. }
            | Command::Capture { intent, .. }
            | Command::Cancel { intent }
            | Command::Authenticate { intent, .. }
            | Command::Refund { intent, .. } => {
                self.book.intent(intent)?;
            }
        }
        Ok(command)
    }

    fn apply(&mut self, command: Command, key: Option<&str>, moment: &Moment) -> Reply {
        let plain =
            |changed: Result<Intent, ApiError>| Reply::Now(changed.map(|intent| intent.to_json(false)));
        match command {
            Command::Create(create) => Reply::Now(Ok(self.create(create, moment))),
            Command::Confirm { intent, card, behaviour, expand } => {
                let pending = Pending { key: key.map(str::to_owned), intent, card, expand };
                self.confirm(pending, behaviour)
            }
            Command::Capture { intent, amount } => plain(self.change(&intent, |i| i.capture(amount))),
            Command::Cancel { intent } => plain(self.change(&intent, Intent::cancel)),
            Command::Authenticate { intent, passed } => {
                plain(self.change(&intent, |i| i.authenticate(passed)))
            }
            Command::Refund { intent, amount, metadata } => {
                let id = format!("re_{}", moment.nonce);
                let mut amount_back = 0;
                let refunded = self.change(&intent, |i| {
                    amount_back = i.refund(amount)?;
                    Ok(())
                });
                Reply::Now(refunded.map(|changed| {
                    let refund = Refund {
                        id,
                        payment_intent: changed.id,
                        amount: amount_back,
                        currency: changed.currency,
                        created: moment.now,
                        metadata,
                    };
                    let body = refund.to_json();
                    self.events.push(Event { kind: "refund.created", object: body.clone() });
                    self.records.push(Record::Refund(refund.clone()));
                    self.book.put_refund(refund);
                    body
                }))
            }
        }
    }

    fn create(&mut self, create: Create, moment: &Moment) -> Value {
        let id = format!("pi_{}", moment.nonce);
        let client_secret = format!("{id}_secret_{}", moment.nonce.chars().rev().collect::<String>());
        let intent = Intent {
            id,
            amount: create.amount,
            currency: create.currency,
            capture: create.capture,
            metadata: create.metadata,
            created: moment.now,
            client_secret,
            state: State::RequiresPaymentMethod { declined: None },
        };
        let body = intent.to_json(false);
        self.note(&intent, "payment_intent.created");
        self.book.put_intent(intent);
        body
    }

    fn confirm(&mut self, pending: Pending, behaviour: Behaviour) -> Reply {
        if let Err(error) = self.book.intent(&pending.intent).and_then(Intent::check_confirmable) {
            return Reply::Now(Err(error));
        }
        let Pending { intent, card, expand, .. } = pending.clone();
        let shown = |changed: Result<Intent, ApiError>| changed.map(|intent| intent.to_json(expand));
        match behaviour {
            Behaviour::Authorize => Reply::Now(shown(self.change(&intent, |i| i.authorize(card)))),
            Behaviour::Challenge => Reply::Now(shown(self.change(&intent, |i| i.challenge(card)))),
            Behaviour::Decline(decline_code) => {
                let declined = shown(self.change(&intent, |i| i.decline(decline_code)));
                Reply::Now(declined.and_then(|intent| Err(ApiError::Declined { decline_code, intent })))
            }
            Behaviour::FailCharged => {
                Reply::Now(self.change(&intent, |i| i.authorize(card)).and(Err(ApiError::Internal)))
            }
            Behaviour::HangCharged => match shown(self.change(&intent, |i| i.authorize(card))) {
                Ok(body) => Reply::Lost(body),
                Err(error) => Reply::Now(Err(error)),
            },
            Behaviour::HangUncharged => Reply::Silent,
            Behaviour::Slow(delay) => match self.change(&intent, |i| i.process(card)) {
                Ok(_) => Reply::After(delay, pending),
                Err(error) => Reply::Now(Err(error)),
            },
        }
    }

    fn change(
        &mut self,
        id: &str,
        transition: impl FnOnce(&mut Intent) -> Result<(), ApiError>,
    ) -> Result<Intent, ApiError> {
        let intent = self.book.intent_mut(id)?;
        transition(intent)?;
        let changed = intent.clone();
        let kind = match &changed.state {
            State::RequiresPaymentMethod { .. } => "payment_intent.payment_failed",
            State::RequiresAction { .. } => "payment_intent.requires_action",
            State::Processing { .. } => "payment_intent.processing",
            State::RequiresCapture { .. } => "payment_intent.amount_capturable_updated",
            State::Succeeded { refunded: 0, .. } => "payment_intent.succeeded",
            State::Succeeded { .. } => "charge.refunded",
            State::Canceled { .. } => "payment_intent.canceled",
        };
        self.note(&changed, kind);
        Ok(changed)
    }

    fn note(&mut self, intent: &Intent, kind: &'static str) {
        self.events.push(Event { kind, object: intent.to_json(false) });
        self.records.push(Record::Intent(Box::new(intent.clone())));
    }

    fn finish(&mut self, key: Option<&str>, answer: Answer) -> Step {
        if let Some(key) = key
            && let Some(entry) = self.keys.finish(key, answer.clone())
        {
            self.records.push(Record::Key { key: key.to_owned(), entry: entry.clone() });
        }
        Step::Answer { answer, replayed: false }
    }
}

fn refused(error: &ApiError) -> Step {
    Step::Answer { answer: Answer { status: error.status(), body: error.body() }, replayed: false }
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
