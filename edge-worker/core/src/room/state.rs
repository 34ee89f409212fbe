//! The Room's state: what is stored, what is rebuilt, what may be forgotten.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::FREED_SLOT_RESTS_MS;
use super::book::{Book, LaneView};
use super::invitations::Invitations;
use super::pace::Pace;
use super::phase::Progress;
use super::release::Allowance;
use crate::draw::Hash;
use crate::draw::transcript::{RecordError, parse_hash};
use crate::wire::{
    AuditEntry, BatchRecord, EventConfig, Instant, Inventory, LaneSetup, Phase, RoomDocument, Transcript,
};

/// The stored row of the Room beside its lanes' books, its records and its audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The event.
    pub event: String,
    /// Its incarnation.
    pub inc: String,
    /// When it was created.
    pub created_at: Instant,
    /// The draw's secret, hex.
    pub secret: String,
    /// The configuration.
    pub config: EventConfig,
    /// Number of the configuration.
    pub config_version: u64,
    pub(super) progress: Progress,
    /// Batches closed.
    pub batches: u32,
    /// Positions given.
    pub places: u64,
    /// Positions below this are invited.
    pub serving: u64,
    /// Version of the published document.
    pub version: u64,
    /// Number of the last tick.
    pub tick: u64,
    /// Stock as last told.
    pub inventory: Option<Inventory>,
}

/// What a Room is rebuilt from.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// The stored row.
    pub memory: Memory,
    /// The lanes' books, in lane order.
    pub books: Vec<Book>,
    /// The draw.
    pub transcript: Option<Transcript>,
    /// Sessions that ended, with the moment the Room heard of it, oldest first.
    pub ended: Vec<(String, Instant)>,
}

/// What a decision changed. Written as one transaction before anything is sent or answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Writes {
    /// The Room's own row.
    pub memory: Option<Memory>,
    /// Books that changed.
    pub books: Vec<(u16, Book)>,
    /// The draw, once.
    pub transcript: Option<Transcript>,
    /// New batches.
    pub batches: Vec<BatchRecord>,
    /// New endings.
    pub ended: Vec<(String, Instant)>,
    /// Endings heard of before this moment are no longer named.
    pub forget_ended_before: Option<Instant>,
    /// New lines of the audit.
    pub audit: Vec<AuditEntry>,
}

/// The Room.
#[derive(Clone, Debug)]
pub struct Room {
    pub(super) memory: Memory,
    pub(super) secret: Hash,
    pub(super) lanes: Vec<LaneView>,
    pub(super) transcript: Option<Transcript>,
    pub(super) draw_seed: Option<Hash>,
    pub(super) ended: VecDeque<(String, Instant)>,
    /// Totals of endings by lane, waiting for their slots' rest to be over.
    pub(super) resting: VecDeque<(Instant, u16, u64)>,
    /// No grants before: a restart does not know how long freed slots have rested.
    pub(super) rests_until: Instant,
    pub(super) allowance: Allowance,
    pub(super) invitations: Invitations,
    /// Endings of the last seconds: as many are expected in the next.
    pub(super) ended_lately: VecDeque<(Instant, u64)>,
    pub(super) pace: Pace,
    pub(super) pressure_at: Option<Instant>,
    /// The document as last counted by `version`.
    pub(super) published: Option<RoomDocument>,
    pub(super) writes: Writes,
}

impl Room {
    /// A Room as its storage says.
    pub fn restore(restored: Restored, now: Instant) -> Result<Self, RecordError> {
        let secret = parse_hash(&restored.memory.secret)?;
        let seed = restored.transcript.as_ref().map(|transcript| parse_hash(&transcript.seed)).transpose()?;
        let serving = restored.memory.serving;
        let mut lanes: Vec<LaneView> = restored.books.into_iter().map(LaneView::restore).collect();
        lanes.resize_with(usize::from(restored.memory.config.lanes), LaneView::default);
        Ok(Self {
            memory: restored.memory,
            secret,
            lanes,
            transcript: restored.transcript,
            draw_seed: seed,
            ended: restored.ended.into(),
            resting: VecDeque::new(),
            rests_until: now.plus_ms(FREED_SLOT_RESTS_MS),
            allowance: Allowance::new(now),
            invitations: Invitations::new(serving),
            ended_lately: VecDeque::new(),
            pace: Pace::default(),
            pressure_at: None,
            published: None,
            writes: Writes::default(),
        })
    }

    /// What changed since the last call. To be stored before anything is sent or answered.
    pub fn take_writes(&mut self) -> Writes {
        let mut writes = std::mem::take(&mut self.writes);
        for (lane, view) in (0_u16..).zip(&mut self.lanes) {
            if std::mem::take(&mut view.changed) {
                writes.books.push((lane, view.book.clone()));
            }
        }
        writes.memory = Some(self.memory.clone());
        writes
    }

    /// The event.
    pub fn event(&self) -> &str {
        &self.memory.event
    }

    /// Its incarnation.
    pub fn inc(&self) -> &str {
        &self.memory.inc
    }

    /// Its configuration.
    pub fn config(&self) -> &EventConfig {
        &self.memory.config
    }

    /// The draw, once there is one.
    pub fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    /// What a fan sees.
    pub fn phase(&self, now: Instant) -> Phase {
        self.memory.progress.phase(&self.memory.config, now)
    }

    /// What a lane must know.
    pub fn setup(&self, lane: u16) -> LaneSetup {
        let Memory { event, inc, created_at, config, config_version, .. } = &self.memory;
        LaneSetup {
            event: event.clone(),
            inc: inc.clone(),
            created_at: *created_at,
            version: *config_version,
            lane,
            registration_opens_at: config.registration_opens_at,
            onsale_at: config.onsale_at,
            closes_at: config.closes_at,
            session_seconds: config.admission.session_seconds,
            session_max_seconds: config.admission.session_max_seconds,
        }
    }

    /// When the host should tick next, in milliseconds from `now`. Once a second while anything can happen; rarely
    /// before registration and after the last session.
    pub fn next_tick_ms(&self, now: Instant) -> u64 {
        let idle = match self.phase(now) {
            Phase::Scheduled => self.memory.config.registration_opens_at.since(now),
            Phase::Closed if self.lanes.iter().all(|view| view.occupied() == 0) => IDLE_TICK_MS,
            _ => 0,
        };
        idle.clamp(super::TICK_MS, IDLE_TICK_MS)
    }
}

/// A Room with nothing to do still ticks this often: documents older than 30 s admit nobody.
const IDLE_TICK_MS: u64 = 15_000;
