//! What the stores say: the origin's database and its own invariants, and the payment simulator's ledger.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::NoTls;

use crate::fan::Evidence;
use crate::stack::Info;

/// A booking as the database has it, with its order's provider reference.
#[derive(Debug)]
pub(super) struct BookingRow {
    booking_id: String,
    order_id: String,
    seats: Vec<String>,
    total: i64,
    status: String,
    intent: Option<String>,
}

/// A payment as the provider has it.
#[derive(Debug, Deserialize)]
pub(super) struct Payment {
    id: String,
    amount: i64,
    captured: i64,
    refunded: i64,
}

/// Both stores at one moment, once nothing moves any more.
#[derive(Debug)]
pub struct Stores {
    bookings: Vec<BookingRow>,
    seats_sold: i64,
    payments: Vec<Payment>,
    invariants: Value,
}

/// Why a store could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database.
    #[error("database: {0}")]
    Database(#[from] tokio_postgres::Error),
    /// One of the HTTP services.
    #[error("http: {0}")]
    Http(#[from] reqwest::Error),
    /// An answer of another shape than the contract's.
    #[error("{0}")]
    Shape(String),
}

/// Orders on which the origin still has something to do.
const UNFINISHED: &str = "SELECT count(*) FROM orders WHERE event_id = $1 AND \
    status IN ('payment_pending', 'payment_unknown', 'requires_action', 'authorized', 'confirmed', 'refund_pending')";
const BOOKINGS: &str = "SELECT b.booking_id, b.order_id, b.seat_ids, b.total, b.status, o.intent_id \
    FROM bookings b JOIN orders o USING (order_id) WHERE b.event_id = $1";
const SEATS_SOLD: &str = "SELECT count(*) FROM event_seats WHERE event_id = $1 AND status = 'sold'";

impl Stores {
    /// How many orders are not final yet.
    pub async fn unfinished(info: &Info, event: &str) -> Result<i64, StoreError> {
        let database = connect(info).await?;
        Ok(database.query_one(UNFINISHED, &[&event]).await?.try_get(0)?)
    }

    /// Reads both stores.
    pub async fn read(info: &Info, event: &str) -> Result<Self, StoreError> {
        let database = connect(info).await?;
        let rows = database.query(BOOKINGS, &[&event]).await?;
        let bookings = rows.iter().map(booking_row).collect::<Result<_, _>>()?;
        let seats_sold = database.query_one(SEATS_SOLD, &[&event]).await?.try_get(0)?;
        let http = reqwest::Client::builder().no_proxy().build()?;
        let ledger: Value = http
            .get(format!("{}/_control/ledger", info.psp))
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?;
        let payments = serde_json::from_value(ledger["intents"].clone())
            .map_err(|error| StoreError::Shape(format!("ledger: {error}")))?;
        let url = format!("{}/admin/v1/events/{event}/invariants", info.origin);
        let invariants =
            http.get(url).bearer_auth(&info.admin_token).send().await?.error_for_status()?.json().await?;
        Ok(Self { bookings, seats_sold, payments, invariants })
    }

    /// Seats in live bookings.
    #[must_use]
    pub fn seats_booked(&self) -> usize {
        self.live().map(|booking| booking.seats.len()).sum()
    }

    /// Seats beyond the first live booking of each.
    #[must_use]
    pub fn oversold(&self) -> usize {
        let mut times: HashMap<&str, usize> = HashMap::new();
        self.live().flat_map(|booking| &booking.seats).for_each(|seat| *times.entry(seat).or_default() += 1);
        times.values().map(|count| count - 1).sum()
    }

    /// Money kept by the provider for us, in minor units.
    #[must_use]
    pub fn captured(&self) -> i64 {
        self.payments.iter().map(|payment| payment.captured - payment.refunded).sum()
    }

    /// The worth of live bookings, in minor units.
    #[must_use]
    pub fn booked(&self) -> i64 {
        self.live().map(|booking| booking.total).sum()
    }

    fn live(&self) -> impl Iterator<Item = &BookingRow> {
        self.bookings.iter().filter(|booking| booking.status == "confirmed")
    }

    /// Everything in which the stores contradict each other or what fans were told.
    #[must_use]
    pub fn breaches(&self, evidence: &Evidence) -> Vec<String> {
        let mut breaches = Vec::new();
        if self.oversold() > 0 {
            breaches.push(format!("oversold: {} seats have more than one live booking", self.oversold()));
        }
        if usize::try_from(self.seats_sold) != Ok(self.seats_booked()) {
            breaches.push(format!(
                "{} seats are sold, {} are in bookings",
                self.seats_sold,
                self.seats_booked()
            ));
        }
        self.check_told(evidence, &mut breaches);
        self.check_money(&mut breaches);
        self.check_invariants(&mut breaches);
        breaches
    }

    fn check_told(&self, evidence: &Evidence, breaches: &mut Vec<String>) {
        let rows: HashMap<&str, &BookingRow> =
            self.bookings.iter().map(|booking| (booking.booking_id.as_str(), booking)).collect();
        for told in &evidence.bookings {
            let Some(row) = rows.get(told.booking_id.as_str()) else {
                breaches
                    .push(format!("fan {} was told of {}, which does not exist", told.fan, told.booking_id));
                continue;
            };
            let sorted = |seats: &[String]| {
                let mut seats = seats.to_vec();
                seats.sort();
                seats
            };
            let same_payment = told.payment_ref.is_none() || told.payment_ref == row.intent;
            if sorted(&row.seats) != sorted(&told.seats)
                || (row.total, &row.order_id) != (told.total, &told.order_id)
                || !same_payment
            {
                breaches.push(format!("fan {} was told {told:?}, the database has {row:?}", told.fan));
            }
        }
    }

    fn check_money(&self, breaches: &mut Vec<String>) {
        let payments: HashMap<&str, &Payment> =
            self.payments.iter().map(|payment| (payment.id.as_str(), payment)).collect();
        let mut paid_for: HashMap<&str, i64> = HashMap::new();
        for booking in self.live() {
            let intent = booking.intent.as_deref().unwrap_or("");
            *paid_for.entry(intent).or_default() += booking.total;
            let captured = payments.get(intent).map_or(0, |payment| payment.captured - payment.refunded);
            if captured != booking.total {
                breaches
                    .push(format!("{} costs {}, {captured} was captured", booking.booking_id, booking.total));
            }
        }
        for payment in &self.payments {
            let kept = payment.captured - payment.refunded;
            if kept > payment.amount || (kept > 0 && paid_for.get(payment.id.as_str()) != Some(&kept)) {
                breaches.push(format!(
                    "silent money: {kept} kept for {} without a booking of that worth",
                    payment.id
                ));
            }
        }
    }

    fn check_invariants(&self, breaches: &mut Vec<String>) {
        let number = |name: &str| self.invariants[name].as_i64();
        let parts =
            ["available", "held", "sold", "blocked"].iter().map(|name| number(name)).sum::<Option<i64>>();
        if self.invariants["ok"] != Value::Bool(true) || parts.is_none() || parts != number("capacity") {
            breaches.push(format!("the origin's invariants: {}", self.invariants));
        }
    }
}

fn booking_row(row: &tokio_postgres::Row) -> Result<BookingRow, tokio_postgres::Error> {
    Ok(BookingRow {
        booking_id: row.try_get(0)?,
        order_id: row.try_get(1)?,
        seats: row.try_get(2)?,
        total: row.try_get(3)?,
        status: row.try_get(4)?,
        intent: row.try_get(5)?,
    })
}

async fn connect(info: &Info) -> Result<tokio_postgres::Client, StoreError> {
    let (client, connection) = tokio_postgres::connect(&info.database_url, NoTls).await?;
    // Ends by itself when the client is dropped.
    tokio::spawn(connection);
    Ok(client)
}
