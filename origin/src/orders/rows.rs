//! Rows of `orders` as types, in one match each way.

use chrono::{DateTime, Utc};
use sqlx::{Row, postgres::PgRow};

use super::{
    event::{Failure, Loss},
    order::{Order, OrderState},
};
use crate::{
    db::ImpossibleRow,
    holds::HeldSeat,
    ids::BookingId,
    payments::{IntentId, Money},
};

/// The columns that hold a state.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StateColumns {
    pub(super) status: &'static str,
    pub(super) intent_id: Option<String>,
    pub(super) reason: Option<&'static str>,
    pub(super) decline_code: Option<String>,
    pub(super) unknown_since: Option<DateTime<Utc>>,
    pub(super) deadline: Option<DateTime<Utc>>,
    pub(super) booking_id: Option<String>,
}

const DECLINED: &str = "declined";
const UNAVAILABLE: &str = "unavailable";
const TIMED_OUT: &str = "timed_out";

impl From<&OrderState> for StateColumns {
    fn from(state: &OrderState) -> Self {
        let mut columns = Self {
            status: state.status(),
            intent_id: state.intent().map(ToString::to_string),
            booking_id: state.booking().map(ToString::to_string),
            ..Self::default()
        };
        match state {
            OrderState::RequiresAction { deadline, .. } => columns.deadline = Some(*deadline),
            OrderState::PaymentUnknown { since, deadline, .. } => {
                columns.unknown_since = Some(*since);
                columns.deadline = Some(*deadline);
            }
            OrderState::Voiding { loss, .. } | OrderState::Voided { loss, .. } => {
                columns.reason = Some(loss.as_str())
            }
            OrderState::PaymentFailed { failure, .. } => match failure {
                Failure::Declined(code) => {
                    columns.reason = Some(DECLINED);
                    columns.decline_code = Some(code.clone());
                }
                Failure::Unavailable => columns.reason = Some(UNAVAILABLE),
                Failure::TimedOut => columns.reason = Some(TIMED_OUT),
            },
            _ => {}
        }
        columns
    }
}

/// Reads an order.
pub(super) fn order(row: &PgRow) -> Result<Order, sqlx::Error> {
    let id: String = row.try_get("order_id")?;
    let wrong = |column: &'static str| impossible(column, &id);
    let indices: Vec<i32> = row.try_get("seats")?;
    let prices: Vec<i64> = row.try_get("prices")?;
    let seats = indices.into_iter().zip(prices).map(|(index, price)| {
        Ok(HeldSeat { index: u32::try_from(index).map_err(|_| impossible("seats", &id))?, price })
    });
    let currency = row.try_get::<String, _>("currency")?.parse().map_err(|_| wrong("currency"))?;
    Ok(Order {
        event: row.try_get::<String, _>("event_id")?.parse().map_err(|_| wrong("event_id"))?,
        hold: row.try_get::<String, _>("hold_id")?.parse().map_err(|_| wrong("hold_id"))?,
        identity: row.try_get("identity")?,
        sid: row.try_get("sid")?,
        seats: seats.collect::<Result<_, ImpossibleRow>>()?,
        seat_ids: row.try_get("seat_ids")?,
        total: Money { minor: row.try_get("total")?, currency },
        payment_method: row.try_get("payment_method")?,
        client_secret: row.try_get("client_secret")?,
        instrument: row.try_get("instrument")?,
        claim_id: row.try_get("claim_id")?,
        state: state(row, &id)?,
        tries: u32::try_from(row.try_get::<i32, _>("tries")?).map_err(|_| wrong("tries"))?,
        created_at: row.try_get("created_at")?,
        order_id: id.parse().map_err(|_| wrong("order_id"))?,
    })
}

fn state(row: &PgRow, id: &str) -> Result<OrderState, sqlx::Error> {
    let status: String = row.try_get("status")?;
    let reason: Option<String> = row.try_get("reason")?;
    let stored: Option<IntentId> = match row.try_get::<Option<String>, _>("intent_id")? {
        Some(text) => Some(text.parse().map_err(|_| impossible("intent_id", id))?),
        None => None,
    };
    let intent = || stored.clone().ok_or_else(|| impossible("intent_id", id));
    let booking = || -> Result<BookingId, sqlx::Error> {
        let text: Option<String> = row.try_get("booking_id")?;
        Ok(text.and_then(|text| text.parse().ok()).ok_or_else(|| impossible("booking_id", id))?)
    };
    let instant = |column: &'static str| -> Result<DateTime<Utc>, sqlx::Error> {
        Ok(row.try_get::<Option<_>, _>(column)?.ok_or_else(|| impossible(column, id))?)
    };
    let loss = || reason.as_deref().and_then(Loss::parse).ok_or_else(|| impossible("reason", id));
    Ok(match status.as_str() {
        "payment_pending" => match stored {
            None => OrderState::Placed,
            Some(intent) => OrderState::Confirming { intent },
        },
        "requires_action" => OrderState::RequiresAction { intent: intent()?, deadline: instant("deadline")? },
        "payment_unknown" => OrderState::PaymentUnknown {
            intent: intent()?,
            since: instant("unknown_since")?,
            deadline: instant("deadline")?,
        },
        "authorized" if reason.is_some() => OrderState::Voiding { intent: intent()?, loss: loss()? },
        "authorized" => OrderState::Authorized { intent: intent()? },
        "confirmed" => OrderState::Confirmed { intent: intent()?, booking: booking()? },
        "captured" => OrderState::Captured { intent: intent()?, booking: booking()? },
        "payment_failed" => {
            let failure = match reason.as_deref() {
                Some(DECLINED) => {
                    let code: Option<String> = row.try_get("decline_code")?;
                    Failure::Declined(code.ok_or_else(|| impossible("decline_code", id))?)
                }
                Some(UNAVAILABLE) => Failure::Unavailable,
                Some(TIMED_OUT) => Failure::TimedOut,
                _ => return Err(impossible("reason", id).into()),
            };
            OrderState::PaymentFailed { intent: stored, failure }
        }
        "expired" => OrderState::Expired { intent: stored },
        "voided" => OrderState::Voided { intent: intent()?, loss: loss()? },
        "refund_pending" => OrderState::RefundPending { intent: intent()?, booking: booking()? },
        "refunded" => OrderState::Refunded { intent: intent()?, booking: booking()? },
        "refund_failed" => OrderState::RefundFailed { intent: intent()?, booking: booking()? },
        "claim" => {
            let booked = row.try_get::<Option<String>, _>("booking_id")?.is_some();
            OrderState::Claim { intent: intent()?, booking: if booked { Some(booking()?) } else { None } }
        }
        _ => return Err(impossible("status", id).into()),
    })
}

fn impossible(column: &'static str, id: &str) -> ImpossibleRow {
    ImpossibleRow { table: "orders", column, id: id.to_owned() }
}
