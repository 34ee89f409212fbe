//! The demo event: a venue from the chart and a sale at the origin, a waiting room at the edge.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Map, Value, json};

use super::StackError;
use super::options::Sale;
use super::state::State;

/// The demo event's id.
pub(super) const EVENT: &str = "evt_demo";
const TITLE: &str = "Fairgate Demo Night";
/// The demo sale ends a day later; nobody watches longer.
const SALE_HOURS: i64 = 24;
const ONE_HOUR_SECS: u64 = 3600;
/// A shopper's session may be prolonged to an hour in all, or stay as long as it was made.
const SESSION_MAX_SECS: u32 = 3600;
/// Prices of the chart's categories in order, in minor units; further categories cost the last.
const PRICES: [u32; 4] = [9500, 6500, 4500, 2500];

/// Creates the event everywhere and returns its id.
pub(super) async fn create(
    state: &State,
    chart: &str,
    sale: &Sale,
    now: DateTime<Utc>,
) -> Result<String, StackError> {
    let http = Client::builder().no_proxy().build()?;
    let after = |secs: u64| now + TimeDelta::seconds(i64::try_from(secs).unwrap_or(i64::MAX / 1000));
    let onsale = after(sale.onsale_in_secs.unwrap_or(ONE_HOUR_SECS));
    // Without a given instant the operator's `/open` decides alone, so the origin must already be willing to sell.
    let origin_onsale = sale.onsale_in_secs.map_or(now, after);

    let origin = Operator { http: &http, base: state.origin_url(), token: &state.secrets.admin_token };
    let venue = origin.post_text("/admin/v1/venues?format=seatsio", chart).await?;
    let event = origin_event(&venue, sale, origin_onsale)?;
    origin.json(Method::POST, "/admin/v1/events", &event).await?;

    let edge = Operator { http: &http, base: state.edge_url(), token: &state.secrets.admin_token };
    edge.json(Method::PUT, &format!("/admin/v1/events/{EVENT}"), &edge_event(sale, now, onsale)).await?;
    Ok(EVENT.to_owned())
}

fn origin_event(venue: &Value, sale: &Sale, onsale: DateTime<Utc>) -> Result<Value, StackError> {
    let unexpected = |detail: &str| StackError::Unexpected {
        call: "POST /admin/v1/venues".to_owned(),
        detail: format!("{detail} in {venue}"),
    };
    let categories = venue["categories"].as_array().ok_or_else(|| unexpected("no categories"))?;
    let mut prices = Map::new();
    for (category, price) in categories.iter().zip(PRICES.iter().chain(std::iter::repeat(&PRICES[3]))) {
        // Charts count their categories with numbers as often as with words.
        let id = match &category["id"] {
            Value::String(id) => id.clone(),
            Value::Null => return Err(unexpected("a category without id")),
            other => other.to_string(),
        };
        prices.insert(id, json!(price));
    }
    Ok(json!({
        "event_id": EVENT, "title": TITLE,
        "venue_id": venue["venue_id"].as_str().ok_or_else(|| unexpected("no venue_id"))?,
        "starts_at": "2027-06-05T19:30:00", "timezone": "Europe/Madrid",
        "onsale_at": instant(onsale), "currency": "EUR", "prices": prices,
        "hold_seconds": sale.hold_secs, "hold_max_seconds": sale.hold_secs.saturating_mul(3),
        "event_ticket_limit": 6, "orphan_rule": "lenient", "end_session_on_purchase": true,
    }))
}

fn edge_event(sale: &Sale, now: DateTime<Utc>, onsale: DateTime<Utc>) -> Value {
    json!({
        "title": TITLE,
        // A minute ago: registration is open whatever the clocks of the two services say.
        "registration_opens_at": instant(now - TimeDelta::minutes(1)),
        "onsale_at": instant(onsale),
        "closes_at": instant(onsale + TimeDelta::hours(SALE_HOURS)),
        "lanes": sale.lanes,
        "admission": {
            "total_active_users": sale.cap, "new_users_per_minute": sale.rate_per_minute,
            "session_seconds": sale.session_secs, "session_max_seconds": SESSION_MAX_SECS.max(sale.session_secs),
            "no_show_compensation": true,
        },
        "protect": [{"path": format!("/v1/events/{EVENT}/holds*"), "methods": ["POST", "DELETE"], "proof": "dpop"}],
        "bypass": [], "origin": null,
        "pow": {"puzzles": sale.puzzles, "difficulty": sale.difficulty},
        "accounts": null, "beacon": null, "message": {},
    })
}

fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// One service as its operator sees it.
struct Operator<'a> {
    http: &'a Client,
    base: String,
    token: &'a str,
}

impl Operator<'_> {
    async fn post_text(&self, path: &str, body: &str) -> Result<Value, StackError> {
        let request =
            self.http.post(format!("{}{path}", self.base)).header("content-type", "application/json");
        self.send(request.body(body.to_owned()), &format!("POST {path}")).await
    }

    async fn json(&self, method: Method, path: &str, body: &Value) -> Result<Value, StackError> {
        let call = format!("{method} {path}");
        self.send(self.http.request(method, format!("{}{path}", self.base)).json(body), &call).await
    }

    async fn send(&self, request: RequestBuilder, call: &str) -> Result<Value, StackError> {
        let answer = request.bearer_auth(self.token).send().await?;
        let status = answer.status();
        let body = answer.text().await?;
        if !status.is_success() {
            return Err(StackError::Refused { call: call.to_owned(), status: status.as_u16(), body });
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&body)
            .map_err(|error| StackError::Unexpected { call: call.to_owned(), detail: error.to_string() })
    }
}
