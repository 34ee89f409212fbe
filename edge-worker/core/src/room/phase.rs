//! The phases of an event: a stage that only moves forward, an operator's pause over it, and stock.

use serde::{Deserialize, Serialize};

use super::stock::Stock;
use crate::wire::{Action, EventConfig, Instant, Phase};

/// How far the event is. Only ever moves down this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before the draw; the clock tells `scheduled` from `registration`.
    Before,
    /// Lanes are being sealed.
    Drawing,
    /// Drawn.
    Open,
    /// Over.
    Closed,
}

/// An act that is not possible from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{action:?} is not possible when {from:?}")]
pub struct Refused {
    /// State.
    pub from: Phase,
    /// What was wanted.
    pub action: Action,
}

/// The state a phase is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) stage: Stage,
    /// An operator stopped letting in.
    pub(super) paused: bool,
    pub(super) stock: Stock,
}

impl Progress {
    pub(super) const START: Self = Self { stage: Stage::Before, paused: false, stock: Stock::Available };

    /// What a fan sees.
    pub(super) fn phase(&self, config: &EventConfig, now: Instant) -> Phase {
        match self.stage {
            Stage::Before if now < config.registration_opens_at => Phase::Scheduled,
            Stage::Before => Phase::Registration,
            Stage::Drawing => Phase::Drawing,
            Stage::Closed => Phase::Closed,
            Stage::Open if self.paused => Phase::Paused,
            Stage::Open => match self.stock {
                Stock::Available => Phase::Open,
                Stock::ReturnsOnly => Phase::ReturnsOnly,
                Stock::SoldOut => Phase::SoldOut,
            },
        }
    }

    /// What the clock does.
    pub(super) fn advance(self, config: &EventConfig, now: Instant) -> Self {
        let stage = match self.stage {
            Stage::Closed => Stage::Closed,
            _ if now >= config.closes_at => Stage::Closed,
            Stage::Before if now >= config.onsale_at => Stage::Drawing,
            other => other,
        };
        Self { stage, ..self }
    }

    /// What the last seal does.
    pub(super) fn drawn(self) -> Self {
        match self.stage {
            Stage::Drawing => Self { stage: Stage::Open, ..self },
            Stage::Before | Stage::Open | Stage::Closed => self,
        }
    }

    /// What an operator does. Repeating an act that is already in force changes nothing.
    pub(super) fn act(self, action: Action, config: &EventConfig, now: Instant) -> Result<Self, Refused> {
        match (action, self.stage) {
            (Action::Close, _) => Ok(Self { stage: Stage::Closed, ..self }),
            (_, Stage::Closed) => Err(Refused { from: self.phase(config, now), action }),
            (Action::Pause, _) => Ok(Self { paused: true, ..self }),
            (Action::Resume, _) => Ok(Self { paused: false, ..self }),
            (Action::Open, Stage::Before) => Ok(Self { stage: Stage::Drawing, paused: false, ..self }),
            (Action::Open, Stage::Drawing | Stage::Open) => Ok(Self { paused: false, ..self }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::config::tests::sample_config;

    #[test]
    fn the_clock_moves_only_forward() {
        let config = sample_config();
        let at = |ms| Progress::START.advance(&config, Instant(ms));
        assert_eq!(at(0).phase(&config, Instant(0)), Phase::Scheduled);
        assert_eq!(at(1_000).phase(&config, Instant(1_000)), Phase::Registration);
        assert_eq!(at(10_000).phase(&config, Instant(10_000)), Phase::Drawing);
        let open = at(10_000).drawn();
        assert_eq!(open.phase(&config, Instant(10_001)), Phase::Open);
        assert_eq!(
            open.advance(&config, Instant(5)).stage,
            Stage::Open,
            "a clock stepping back changes nothing"
        );
        let closed = open.advance(&config, config.closes_at);
        assert_eq!(closed.stage, Stage::Closed);
        assert_eq!(closed.drawn(), closed);
        assert_eq!(Progress::START.drawn(), Progress::START);
    }

    #[test]
    fn operators_pause_resume_open_and_close() {
        let config = sample_config();
        let now = Instant(2_000);
        let opened = Progress::START.act(Action::Open, &config, now).unwrap();
        assert_eq!(opened.phase(&config, now), Phase::Drawing);
        assert_eq!(opened.act(Action::Open, &config, now), Ok(opened), "a second call");
        let open = opened.drawn();
        let paused = open.act(Action::Pause, &config, now).unwrap();
        assert_eq!(paused.phase(&config, now), Phase::Paused);
        assert_eq!(paused.act(Action::Pause, &config, now), Ok(paused), "a second call");
        assert_eq!(paused.act(Action::Resume, &config, now), Ok(open));
        assert_eq!(open.act(Action::Resume, &config, now), Ok(open), "a second call");
        let closed = paused.act(Action::Close, &config, now).unwrap();
        assert_eq!(closed.act(Action::Close, &config, now), Ok(closed), "a second call");
        for action in [Action::Open, Action::Pause, Action::Resume] {
            assert_eq!(closed.act(action, &config, now), Err(Refused { from: Phase::Closed, action }));
        }
    }

    #[test]
    fn stock_shows_only_while_open() {
        let config = sample_config();
        for (stock, phase) in [
            (Stock::Available, Phase::Open),
            (Stock::ReturnsOnly, Phase::ReturnsOnly),
            (Stock::SoldOut, Phase::SoldOut),
        ] {
            let progress = Progress { stage: Stage::Open, paused: false, stock };
            assert_eq!(progress.phase(&config, Instant(0)), phase);
            assert_eq!(
                Progress { stage: Stage::Drawing, ..progress }.phase(&config, Instant(0)),
                Phase::Drawing
            );
        }
    }
}
