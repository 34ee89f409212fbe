//! Whether a session whose signature holds is shopping right now.

use crate::room::GATE_DOCUMENT_LASTS_MS;

/// An isolate believes a lane's word about a session for half a minute.
const CONFIRMED_MS: u64 = 30_000;
/// What an isolate knows of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Expiry of the token presented, Unix seconds. There is no leeway on it.
    pub exp: u64,
    /// When its lane last said that it lives.
    pub confirmed_at_ms: Option<u64>,
    /// Whether its lane said that it ended, or this isolate ended it.
    pub ended: bool,
}

/// What to do with a request of this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Let it through.
    Shopping,
    /// Ask its lane first.
    Confirm,
    /// It ended.
    Ended,
    /// Its token ran out.
    Expired,
}

/// Judges a session. `listed`: it stands in the list of ended sessions; `list_age_ms`: age of that list, which beyond
/// [`GATE_DOCUMENT_LASTS_MS`] says too little: a freed slot may have been granted again.
pub fn standing(sighting: &Sighting, listed: bool, list_age_ms: Option<u64>, now_ms: u64) -> Standing {
    if sighting.ended || listed {
        return Standing::Ended;
    }
    if now_ms / 1000 >= sighting.exp {
        return Standing::Expired;
    }
    let list_holds = list_age_ms.is_some_and(|age| age <= GATE_DOCUMENT_LASTS_MS);
    let confirmed = sighting.confirmed_at_ms.is_some_and(|at| now_ms.saturating_sub(at) < CONFIRMED_MS);
    if list_holds && confirmed { Standing::Shopping } else { Standing::Confirm }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000;

    fn seen(confirmed_at_ms: u64) -> Sighting {
        Sighting { exp: 2_000, confirmed_at_ms: Some(confirmed_at_ms), ended: false }
    }

    #[test]
    fn a_session_is_confirmed_every_half_minute() {
        assert_eq!(standing(&seen(NOW - 29_999), false, Some(1_000), NOW), Standing::Shopping);
        assert_eq!(standing(&seen(NOW - 30_000), false, Some(1_000), NOW), Standing::Confirm);
        let never = Sighting { confirmed_at_ms: None, ..seen(NOW) };
        assert_eq!(standing(&never, false, Some(0), NOW), Standing::Confirm);
    }

    #[test]
    fn an_old_or_missing_list_sends_us_to_the_lane() {
        assert_eq!(standing(&seen(NOW), false, Some(GATE_DOCUMENT_LASTS_MS), NOW), Standing::Shopping);
        assert_eq!(standing(&seen(NOW), false, Some(GATE_DOCUMENT_LASTS_MS + 1), NOW), Standing::Confirm);
        assert_eq!(standing(&seen(NOW), false, None, NOW), Standing::Confirm);
    }

    #[test]
    fn an_ending_beats_a_recent_confirmation() {
        assert_eq!(standing(&seen(NOW), true, Some(0), NOW), Standing::Ended);
        let ended = Sighting { ended: true, ..seen(NOW) };
        assert_eq!(standing(&ended, false, Some(0), NOW), Standing::Ended);
    }

    #[test]
    fn token_never_outlives_its_slot() {
        let exp = NOW / 1000;
        let at = |exp| standing(&Sighting { exp, ..seen(NOW) }, false, Some(0), NOW);
        assert_eq!(at(exp), Standing::Expired, "no leeway");
        assert_eq!(at(exp + 1), Standing::Shopping);
    }
}
