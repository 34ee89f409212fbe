//! One second of the Room.

use super::invitations::{Demand, PLANNED_MS};
use super::phase::Stage;
use super::{REPORT_LASTS_MS, Room};
use crate::draw::{self, transcript::RecordError};
use crate::wire::{Instant, Phase, Report, Tick};

impl Room {
    /// Lets the clock act and makes the command of this second for every lane.
    pub fn begin_tick(&mut self, now: Instant) -> Vec<(u16, Tick)> {
        self.memory.progress = self.memory.progress.advance(&self.memory.config, now);
        self.commands(now, |_| true)
    }

    /// The commands that carry grants made since: delivered at once, so that a fan waits a second less.
    pub fn grant_round(&mut self, now: Instant) -> Vec<(u16, Tick)> {
        self.commands(now, |tick| !tick.grants.is_empty())
    }

    fn commands(&mut self, now: Instant, wanted: impl Fn(&Tick) -> bool) -> Vec<(u16, Tick)> {
        // Numbers follow the clock but never repeat or go back, whatever the clock does.
        self.memory.tick = now.0.max(self.memory.tick.saturating_add(1));
        let phase = self.phase(now);
        let drawing = self.memory.progress.stage >= Stage::Drawing;
        let mut commands = Vec::new();
        for (lane, view) in (0_u16..).zip(&self.lanes) {
            let behind = view.setup_version < self.memory.config_version;
            let tick = Tick {
                number: self.memory.tick,
                inc: self.memory.inc.clone(),
                setup: behind.then(|| self.setup(lane)),
                phase,
                seal: drawing && view.book.seal.is_none(),
                batches: self.memory.batches,
                late_seen: view.book.late_seen,
                ended_seen: view.book.ended_seen,
                // A grant made before a pause is not delivered during it; it counts against the cap all the while.
                grants: match phase {
                    Phase::Paused => Vec::new(),
                    _ => view.book.outbox.iter().copied().collect(),
                },
            };
            if wanted(&tick) {
                commands.push((lane, tick));
            }
        }
        commands
    }

    /// Takes in a lane's report, however late or often it comes.
    pub fn absorb(&mut self, lane: u16, report: Report, now: Instant) {
        let Some(view) = self.lanes.get_mut(usize::from(lane)) else { return };
        if report.inc != self.memory.inc {
            view.setup_version = 0;
            return;
        }
        let before = view.book.totals.ended.total();
        let sids = view.absorb(report, now);
        let after = view.book.totals.ended.total();
        if after > before {
            self.resting.push_back((now, lane, after));
            self.ended_lately.push_back((now, after - before));
        }
        for sid in sids {
            self.writes.ended.push((sid.clone(), now));
            self.ended.push_back((sid, now));
        }
    }

    /// Decides: the draw, the next batch, who is let in, who is invited.
    pub fn decide(&mut self, now: Instant) -> Result<(), RecordError> {
        self.forget_ended(now);
        self.draw_if_sealed()?;
        self.close_batch()?;
        self.release_rested(now);
        let asking = self.grant(now);
        self.invite(asking, now);
        self.publish(now);
        Ok(())
    }

    fn draw_if_sealed(&mut self) -> Result<(), RecordError> {
        if self.memory.progress.stage != Stage::Drawing {
            return Ok(());
        }
        if self.transcript.is_none() {
            let seals: Option<Vec<_>> = self.lanes.iter().map(|view| view.book.seal.clone()).collect();
            let Some(seals) = seals else { return Ok(()) };
            let transcript = draw::draw(&self.memory.event, &self.memory.inc, &self.secret, seals)?;
            self.draw_seed = Some(draw::transcript::parse_hash(&transcript.seed)?);
            self.memory.places = transcript.count;
            self.writes.transcript = Some(transcript.clone());
            self.transcript = Some(transcript);
        }
        self.memory.progress = self.memory.progress.drawn();
        Ok(())
    }

    /// Closes the next batch over what the lanes that answered reported; a silent lane delays only its own fans.
    fn close_batch(&mut self) -> Result<(), RecordError> {
        let (Stage::Open, Some(seed)) = (self.memory.progress.stage, self.draw_seed) else { return Ok(()) };
        if self.lanes.iter().all(|view| view.late.is_none()) {
            return Ok(());
        }
        let n = self.memory.batches.saturating_add(1);
        let lanes = self.lanes.iter_mut().map(super::book::LaneView::take_interval).collect();
        if let Some(batch) = draw::close_batch(n, self.memory.places, lanes, &seed)? {
            let places = batch.lanes.iter().map(|lane| u64::from(lane.to - lane.from)).sum::<u64>();
            self.memory.places = self.memory.places.saturating_add(places);
            self.memory.batches = n;
            self.writes.batches.push(batch);
        }
        Ok(())
    }

    fn invite(&mut self, asking: u64, now: Instant) {
        let silent = |heard: Option<Instant>| heard.is_none_or(|at| now.since(at) > REPORT_LASTS_MS);
        if self.phase(now) != Phase::Open || self.lanes.iter().all(|view| silent(view.heard)) {
            return;
        }
        let rate = self.limits(now).rate_per_minute;
        // Two seconds may be saved up, and four are planned.
        let soon = self.allowance.users().saturating_add(rate.saturating_mul(PLANNED_MS).div_ceil(60_000));
        while self.ended_lately.front().is_some_and(|(heard, _)| now.since(*heard) > PLANNED_MS) {
            self.ended_lately.pop_front();
        }
        // Slots at rest come free before an invited fan has asked, and as many endings follow as came before.
        let freed: u64 = self.ended_lately.iter().map(|(_, endings)| endings).sum();
        let demand = Demand {
            wanted: self.grantable(now).saturating_add(freed).min(soon),
            asking,
            places: self.memory.places,
            compensate: self.memory.config.admission.no_show_compensation,
        };
        self.memory.serving = self.invitations.advance(demand, now);
    }

    fn forget_ended(&mut self, now: Instant) {
        let lasts = crate::lane::ENDED_NAMED_MS;
        let before = self.ended.len();
        while self.ended.front().is_some_and(|(_, heard)| now.since(*heard) > lasts) {
            self.ended.pop_front();
        }
        if self.ended.len() < before {
            self.writes.forget_ended_before = Some(Instant(now.0.saturating_sub(lasts)));
        }
    }
}
