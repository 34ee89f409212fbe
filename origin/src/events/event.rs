//! What an event is and which of its fields may change.

use std::{fmt, str::FromStr};

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    ids::{EventId, VenueId},
    problem::{Kind, Problem},
};

/// Where an event's sale stands, in the words of the trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventStatus {
    /// On sale (from `onsale_at` on).
    Onsale,
    /// Not on sale for now.
    Offsale,
    /// Will not take place.
    Canceled,
    /// Will take place at a time not yet known.
    Postponed,
    /// Was moved to another time; on sale.
    Rescheduled,
}

impl EventStatus {
    /// The word stored and sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Onsale => "onsale",
            Self::Offsale => "offsale",
            Self::Canceled => "canceled",
            Self::Postponed => "postponed",
            Self::Rescheduled => "rescheduled",
        }
    }

    /// May seats be sold?
    pub const fn sells(self) -> bool {
        matches!(self, Self::Onsale | Self::Rescheduled)
    }
}

impl FromStr for EventStatus {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Onsale, Self::Offsale, Self::Canceled, Self::Postponed, Self::Rescheduled]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or(())
    }
}

impl fmt::Display for EventStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What to do about single seats left between others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OrphanRule {
    /// Nothing.
    Off,
    /// Avoid them where the service chooses.
    Lenient,
    /// Refuse holds that leave them.
    Strict,
}

impl OrphanRule {
    /// The word stored and sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Lenient => "lenient",
            Self::Strict => "strict",
        }
    }
}

impl FromStr for OrphanRule {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Off, Self::Lenient, Self::Strict].into_iter().find(|rule| rule.as_str() == text).ok_or(())
    }
}

/// An event as its row says.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The operator's id.
    pub event_id: EventId,
    /// Title, NFC.
    pub title: String,
    /// Where.
    pub venue_id: VenueId,
    /// Wall time at the venue.
    pub starts_at: NaiveDateTime,
    /// The venue's IANA zone.
    pub timezone: String,
    /// The instant the sale starts.
    pub onsale_at: DateTime<Utc>,
    /// Where the sale stands.
    pub status: EventStatus,
    /// ISO 4217.
    pub currency: String,
    /// Length of a hold.
    pub hold_seconds: u32,
    /// Longest life of a hold with extension and failed payments.
    pub hold_max_seconds: u32,
    /// How long after a hold's end a payment that was already running may still win its seats.
    pub late_grace_seconds: u32,
    /// After this an unknown payment is given up.
    pub payment_unknown_seconds: u32,
    /// Seats one identity may hold and own.
    pub event_ticket_limit: u32,
    /// Seats one card may buy.
    pub instrument_ticket_limit: Option<u32>,
    /// Single seats left over.
    pub orphan_rule: OrphanRule,
    /// End the edge session when the purchase is confirmed.
    pub end_session_on_purchase: bool,
    /// The layout of its seats.
    pub layout_id: String,
}

impl Event {
    /// May seats be held and bought at `now`?
    pub fn check_on_sale(&self, now: DateTime<Utc>) -> Result<(), Problem> {
        if !self.status.sells() {
            return Err(Problem::new(Kind::EventNotOnSale).with("event_status", self.status.as_str()));
        }
        if now < self.onsale_at {
            let wait = (self.onsale_at - now).num_seconds().saturating_add(1);
            return Err(Problem::new(Kind::OnsaleNotStarted)
                .with("onsale_at", self.onsale_at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true))
                .retry_after(u64::try_from(wait).unwrap_or(1)));
        }
        Ok(())
    }

    /// The instant it starts: the wall time in its zone. In a gap of the zone's clock the hour after it counts, in a
    /// repeated hour the first.
    pub fn starts_at_utc(&self) -> Option<DateTime<Utc>> {
        use chrono::TimeZone;
        let zone: chrono_tz::Tz = self.timezone.parse().ok()?;
        let local = zone.from_local_datetime(&self.starts_at).earliest();
        let after_gap =
            || zone.from_local_datetime(&(self.starts_at + chrono::Duration::hours(1))).earliest();
        local.or_else(after_gap).map(|at| at.with_timezone(&Utc))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn event() -> Event {
        Event {
            event_id: "evt_1".parse().unwrap(),
            title: "Dvořák 🎻".into(),
            venue_id: "ven_1".parse().unwrap(),
            starts_at: "2027-06-05T19:30:00".parse().unwrap(),
            timezone: "Europe/Madrid".into(),
            onsale_at: "2027-01-01T10:00:00Z".parse().unwrap(),
            status: EventStatus::Onsale,
            currency: "EUR".into(),
            hold_seconds: 600,
            hold_max_seconds: 1800,
            late_grace_seconds: 30,
            payment_unknown_seconds: 300,
            event_ticket_limit: 6,
            instrument_ticket_limit: None,
            orphan_rule: OrphanRule::Lenient,
            end_session_on_purchase: true,
            layout_id: "x".into(),
        }
    }

    #[test]
    fn sale_starts_at_an_instant_and_only_for_events_on_sale() {
        let mut event = event();
        let before = "2027-01-01T09:59:58.500Z".parse().unwrap();
        assert_eq!(event.check_on_sale(before).unwrap_err().kind(), Kind::OnsaleNotStarted);
        event.check_on_sale(event.onsale_at).unwrap();
        event.status = EventStatus::Postponed;
        assert_eq!(event.check_on_sale(event.onsale_at).unwrap_err().kind(), Kind::EventNotOnSale);
        event.status = EventStatus::Rescheduled;
        event.check_on_sale(event.onsale_at).unwrap();
    }

    #[test]
    fn wall_time_survives_summer_time_gaps_and_repeats() {
        let mut event = event();
        assert_eq!(event.starts_at_utc().unwrap().to_rfc3339(), "2027-06-05T17:30:00+00:00");
        // 28 March 2027, 02:30 does not exist in Madrid; 31 October 02:30 exists twice.
        event.starts_at = "2027-03-28T02:30:00".parse().unwrap();
        assert_eq!(event.starts_at_utc().unwrap().to_rfc3339(), "2027-03-28T01:30:00+00:00");
        event.starts_at = "2027-10-31T02:30:00".parse().unwrap();
        assert_eq!(event.starts_at_utc().unwrap().to_rfc3339(), "2027-10-31T00:30:00+00:00");
    }
}
