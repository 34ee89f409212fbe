//! What a booking is.

use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::ids::{BookingId, EventId, OrderId};

/// Where a booking stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookingStatus {
    /// The buyer's.
    Confirmed,
    /// Canceled, with no money to give back.
    Canceled,
    /// Canceled, the money on its way back.
    RefundPending,
    /// Canceled, the money back.
    Refunded,
}

impl BookingStatus {
    /// The word stored and sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Canceled => "canceled",
            Self::RefundPending => "refund_pending",
            Self::Refunded => "refunded",
        }
    }
}

impl FromStr for BookingStatus {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Confirmed, Self::Canceled, Self::RefundPending, Self::Refunded]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or(())
    }
}

/// A booking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    /// The booking.
    pub booking_id: BookingId,
    /// The order that bought it.
    pub order_id: OrderId,
    /// Its event.
    pub event: EventId,
    /// Whose it is.
    pub identity: String,
    /// Its seats, as buyers know them.
    pub seat_ids: Vec<String>,
    /// Minor units.
    pub total: i64,
    /// ISO 4217.
    pub currency: String,
    /// Where it stands.
    pub status: BookingStatus,
    /// When the sale was committed.
    pub created_at: DateTime<Utc>,
}
