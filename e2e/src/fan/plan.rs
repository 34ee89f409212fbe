//! What a fan means to do, drawn from the crowd's seed before anything happens.

use std::time::Duration;

use super::chance::Chance;

/// When a fan arrives, relative to the on-sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Registered before the opening: in the draw. The share (in thousandths) of the time left until the opening.
    Before(u16),
    /// Came after it: behind the draw.
    After(Duration),
}

/// What a fan does once inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Names seats on the map, pays.
    Buy,
    /// The first card is declined; pays with another.
    BuySecondCard,
    /// Sends the purchase twice with one key, as a double click does.
    BuyTwice,
    /// Holds seats and goes away without a word; time takes session and hold.
    Abandon,
    /// Holds seats, gives them back and leaves through the door.
    Leave,
}

/// One fan's whole plan.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// When.
    pub arrival: Arrival,
    /// What, once inside.
    pub intent: Intent,
    /// Closes the tab while waiting and is never seen again.
    pub no_show: bool,
    /// Reloads the page while waiting: joins again and must get the same place.
    pub reloads: bool,
    /// Comes back afterwards with the same key, for a second turn.
    pub returns: bool,
    /// How many seats.
    pub seats: usize,
    /// How long the fan looks at the map before choosing.
    pub ponders: Duration,
}

/// Late fans arrive within this time after the opening.
const LATE_ARRIVALS: Duration = Duration::from_secs(20);

impl Plan {
    /// Draws a plan. Shares: what a sale looks like in the field reports, not what is easiest to serve.
    #[must_use]
    pub fn draw(chance: &mut Chance) -> Self {
        let arrival = if chance.percent(75) {
            Arrival::Before(u16::try_from(chance.below(900)).unwrap_or(0))
        } else {
            Arrival::After(chance.between(Duration::from_millis(200), LATE_ARRIVALS))
        };
        let intent = match chance.below(100) {
            0..65 => Intent::Buy,
            65..73 => Intent::BuySecondCard,
            73..80 => Intent::BuyTwice,
            80..88 => Intent::Abandon,
            _ => Intent::Leave,
        };
        Self {
            arrival,
            intent,
            no_show: chance.percent(10),
            reloads: chance.percent(15),
            returns: chance.percent(10),
            seats: 1 + chance.below(4),
            ponders: chance.between(Duration::from_millis(200), Duration::from_secs(3)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_of_two_thousand_has_every_kind_of_fan() {
        let plans: Vec<Plan> = (0..2000).map(|i| Plan::draw(&mut Chance::of(1, i))).collect();
        for intent in [Intent::Buy, Intent::BuySecondCard, Intent::BuyTwice, Intent::Abandon, Intent::Leave] {
            assert!(plans.iter().filter(|plan| plan.intent == intent).count() > 50, "{intent:?}");
        }
        assert!(plans.iter().any(|plan| plan.no_show) && plans.iter().any(|plan| plan.returns));
        assert!(plans.iter().any(|plan| matches!(plan.arrival, Arrival::After(_))));
    }
}
