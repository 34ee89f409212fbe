//! At the till: a card that is declined, a double click, an order followed to its end.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::chance::Chance;
use super::client::Answer;
use super::persist::{Gone, persist};
use super::shopping::{Held, Shopper, unique};
use super::told::ToldBooking;

/// An accepted purchase is decided within the origin's own bound; this is well beyond it.
const ORDER_PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AT_ORDER_AGAIN: Duration = Duration::from_millis(500);

impl Shopper<'_> {
    async fn purchase(
        &self,
        held: &Held,
        name: &str,
        card: &str,
        chance: &mut Chance,
    ) -> Result<Answer, Gone> {
        let path = format!("/holds/{}/purchase", held.hold_id);
        let body = json!({"payment_method_token": card});
        persist(self.crowd, chance, "POST purchase", || {
            self.crowd.client.write(Method::POST, &path, self.key, &self.session.token, Some((name, &body)))
        })
        .await
    }

    /// Pays with a card that is declined; the seats stay held for another try.
    pub(super) async fn decline(&self, held: &Held, chance: &mut Chance) -> Result<(), Gone> {
        let answer = self.purchase(held, &unique("pay")?, "pm_card_visa_chargeDeclined", chance).await?;
        match (answer.status, answer.slug()) {
            (402, "payment-failed") => {
                self.crowd.counts.declined.one();
                Ok(())
            }
            _ => Err(Gone::unexpected("POST purchase (declined card)", &answer)),
        }
    }

    /// Pays; `times` > 1 sends the same purchase again with the same key and expects the same booking.
    pub(super) async fn buy(&mut self, held: &Held, times: usize, chance: &mut Chance) -> Result<(), Gone> {
        let name = unique("pay")?;
        let card = format!("pm_sim_card_{}", self.fan);
        // From here on the sale may end the session at any moment, and the hold becomes a booking.
        let sent = crate::clock::now();
        self.close_session(sent.min(self.session.expires_at));
        self.crowd.told.hold_ends(&held.hold_id, sent);
        let first = self.purchase(held, &name, &card, chance).await?;
        let booked = self.settle(held, first, chance).await?;
        for _ in 1..times {
            let again = self.purchase(held, &name, &card, chance).await?;
            // The purchase itself ended the session, so the gate may turn the repetition away.
            if again.status == 201 && again.text("booking_id") != Some(&booked) {
                self.crowd.told.breach(format!(
                    "fan {}: one purchase, two bookings: {booked} and {}",
                    self.fan, again.body
                ));
            }
        }
        Ok(())
    }

    /// Follows a purchase to its end and records the booking.
    async fn settle(&self, held: &Held, answer: Answer, chance: &mut Chance) -> Result<String, Gone> {
        let (booking_id, order_id, payment_ref) = match (answer.status, answer.slug()) {
            (201, _) => {
                let text = |name| answer.text(name).map(str::to_owned);
                (text("booking_id"), text("order_id"), text("payment_ref"))
            }
            (202, _) => {
                let order =
                    answer.text("order_id").ok_or_else(|| Gone::unexpected("POST purchase", &answer))?;
                (Some(self.follow(order, chance).await?), Some(order.to_owned()), None)
            }
            // The seats' time was over, or the session's: both are promised, neither moved money.
            (403, "admission-required" | "session-ended") | (410, "hold-expired") => {
                return Err(Gone::SessionEnded);
            }
            _ => return Err(Gone::unexpected("POST purchase", &answer)),
        };
        let (Some(booking_id), Some(order_id)) = (booking_id, order_id) else {
            return Err(Gone::unexpected("POST purchase", &answer));
        };
        self.crowd.counts.bookings.one();
        self.crowd.counts.seats.add(held.seats.len());
        self.crowd.told.booking(ToldBooking {
            fan: self.fan,
            booking_id: booking_id.clone(),
            order_id,
            payment_ref,
            seats: held.seats.clone(),
            total: held.total,
        });
        Ok(booking_id)
    }

    async fn follow(&self, order: &str, chance: &mut Chance) -> Result<String, Gone> {
        let path = format!("/orders/{order}");
        let end = Instant::now() + ORDER_PATIENCE;
        loop {
            let answer =
                persist(self.crowd, chance, "GET order", || self.crowd.client.own(&path, self.key)).await?;
            match (answer.text("status"), answer.text("booking_id")) {
                (Some("confirmed" | "captured"), Some(booking)) => return Ok(booking.to_owned()),
                (Some("payment_pending" | "payment_unknown" | "authorized" | "confirmed"), _)
                    if Instant::now() < end =>
                {
                    sleep(chance.jittered(LOOK_AT_ORDER_AGAIN, 0.3)).await;
                }
                _ => return Err(Gone::unexpected("GET order", &answer)),
            }
        }
    }
}
