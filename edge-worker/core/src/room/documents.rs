//! What the Room publishes.

use super::Room;
use super::book::merge;
use crate::draw::ALGORITHM;
use crate::wire::{
    DrawDocument, GateDocument, Instant, LaneStatus, Poll, RoomDocument, Stats, StatsController, StatsLane,
};

/// How fans poll: the page spreads itself by jitter and waits longer the further back it stands.
const POLL: Poll = Poll { floor_ms: 2_000, ceiling_ms: 30_000, jitter: 0.3 };

impl Room {
    /// Counts a change of the document in its version.
    pub(super) fn publish(&mut self, now: Instant) {
        let still = |document: &RoomDocument| RoomDocument {
            version: 0,
            server_time: Instant(0),
            ..document.clone()
        };
        let next = self.document(now);
        if self.published.as_ref().is_none_or(|published| still(published) != still(&next)) {
            self.memory.version = self.memory.version.saturating_add(1);
        }
        self.published = Some(next);
    }

    /// The document every fan polls.
    pub fn document(&self, now: Instant) -> RoomDocument {
        let config = &self.memory.config;
        let drawn = self.transcript.as_ref();
        RoomDocument {
            event: self.memory.event.clone(),
            title: config.title.clone(),
            phase: self.phase(now),
            server_time: now,
            registration_opens_at: config.registration_opens_at,
            onsale_at: config.onsale_at,
            closes_at: config.closes_at,
            serving: self.memory.serving,
            queued: self.queued(),
            admit_rate_per_minute: self.limits(now).rate_per_minute,
            version: self.memory.version,
            poll: POLL,
            draw: DrawDocument {
                commitment: crate::draw::commitment(&self.secret),
                algorithm: ALGORITHM.to_owned(),
                cohort_root: drawn.map(|transcript| transcript.cohort_root.clone()),
                beacon_round: drawn.and_then(|t| t.beacon.as_ref()).map(|beacon| beacon.round),
                count: drawn.map(|transcript| transcript.count),
                seed: drawn.map(|transcript| transcript.seed.clone()),
                verifiable: drawn.map(|transcript| transcript.verifiable),
            },
            inventory: self.memory.inventory,
            message: config.message.clone(),
        }
    }

    /// The document the gate works by.
    pub fn gate_document(&self, now: Instant) -> GateDocument {
        GateDocument {
            event: self.memory.event.clone(),
            inc: self.memory.inc.clone(),
            generated_at: now,
            phase: self.phase(now),
            config: self.memory.config.clone(),
            serving: self.memory.serving,
            drawn: self.transcript.is_some(),
            batches: self.memory.batches,
            admitted_per_minute: self.pace.per_minute(self.limits(now).rate_per_minute, now),
            ended: self.ended.iter().map(|(sid, _)| sid.clone()).collect(),
        }
    }

    /// Fans in line who have not been let in: derived from totals, never adjusted.
    fn queued(&self) -> u64 {
        let waiting = self.lanes.iter().map(|view| {
            let totals = &view.book.totals;
            totals.joined.saturating_add(totals.joined_late).saturating_sub(totals.admitted)
        });
        waiting.fold(0, u64::saturating_add)
    }

    /// The operator's numbers. `statuses` are the lanes' own numbers of this moment, where they answered; a lane that
    /// did not is shown as last known.
    pub fn stats(&self, statuses: &[(u16, LaneStatus)], now: Instant) -> Stats {
        let limits = self.limits(now);
        let mut stats = Stats {
            phase: self.phase(now),
            active: 0,
            granted: 0,
            cap: limits.cap,
            serving: self.memory.serving,
            queued: 0,
            joined_total: 0,
            admitted_total: 0,
            completed_total: 0,
            left_total: 0,
            expired_total: 0,
            revoked_total: 0,
            returned_total: 0,
            controller: StatsController {
                cap: limits.cap,
                rate_per_minute: limits.rate_per_minute,
                show_rate: self.invitations.show_rate(),
                reason: limits.reason.to_owned(),
                inventory: self.memory.inventory,
                pressure_age_ms: self.pressure_at.map(|at| now.since(at)),
            },
            lanes: Vec::with_capacity(self.lanes.len()),
        };
        for (lane, view) in (0_u16..).zip(&self.lanes) {
            let status = statuses.iter().find(|(of, _)| *of == lane).map(|(_, status)| *status);
            // Grants may have been made on totals newer than the status: the later of both keeps the sums consistent.
            let mut totals = view.book.totals;
            if let Some(status) = &status {
                merge(&mut totals, &status.totals);
            }
            let live = totals.admitted.saturating_sub(totals.ended.total());
            let occupied =
                view.book.granted.saturating_sub(totals.ended.total()).saturating_sub(totals.returned);
            let granted = occupied.saturating_sub(live);
            let joined = totals.joined.saturating_add(totals.joined_late);
            stats.active += live;
            stats.granted += granted;
            stats.queued += joined.saturating_sub(totals.admitted);
            stats.joined_total += joined;
            stats.admitted_total += totals.admitted;
            stats.completed_total += totals.ended.completed;
            stats.left_total += totals.ended.left;
            stats.expired_total += totals.ended.expired;
            stats.revoked_total += totals.ended.revoked;
            stats.returned_total += totals.returned;
            let asking = status.map_or(view.asking.len() as u64, |status| status.asking);
            let silent_ms = view.heard.map(|heard| now.since(heard));
            stats.lanes.push(StatsLane { lane, joined, asking, granted, active: live, silent_ms });
        }
        stats
    }
}
