//! Creating an event.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Datelike, NaiveDateTime, Utc};
use http::StatusCode;
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

use super::catalogue::EventView;
use crate::{
    AppState,
    admitted::Operator,
    body::{self, FieldError},
    db,
    events::{Event, EventStatus, OrphanRule, store},
    ids::VenueId,
    problem::{Kind, Problem, Refusal},
    seating::{self, Chart},
};

/// A title of this many characters fits every ticket.
const TITLE_MAX: usize = 300;
pub(super) const TITLE_RULE: &str = "1 to 300 characters, no control characters";
pub(super) const YEAR_RULE: &str = "a year from 1 to 9999";

pub(super) fn fits_title(title: &str) -> bool {
    !title.is_empty() && title.chars().count() <= TITLE_MAX && !title.chars().any(char::is_control)
}

/// Years every calendar, store and client on the way can write.
pub(super) fn fits_year(year: i32) -> bool {
    (1..=9999).contains(&year)
}

/// A day: longer is no hold but a reservation.
const SECONDS_MAX: u32 = 86_400;
/// Seats of one hold travel as keys of one script; a hundred are far below a millisecond.
const LIMIT_MAX: u32 = 100;
/// Ten million of the largest unit; the sum of a hundred seats stays far below 2⁵³.
const PRICE_MAX: i64 = 1_000_000_000_000;

/// A new event.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateEvent {
    event_id: String,
    title: String,
    venue_id: String,
    #[schema(value_type = String)]
    starts_at: NaiveDateTime,
    timezone: String,
    #[schema(value_type = String)]
    onsale_at: DateTime<Utc>,
    currency: String,
    prices: HashMap<String, i64>,
    #[serde(default = "hold_seconds")]
    hold_seconds: u32,
    #[serde(default = "hold_max_seconds")]
    hold_max_seconds: u32,
    #[serde(default = "late_grace_seconds")]
    late_grace_seconds: u32,
    #[serde(default = "payment_unknown_seconds")]
    payment_unknown_seconds: u32,
    #[serde(default = "event_ticket_limit")]
    event_ticket_limit: u32,
    #[serde(default)]
    instrument_ticket_limit: Option<u32>,
    #[serde(default = "orphan_rule")]
    orphan_rule: OrphanRule,
    #[serde(default)]
    hold_engine: Option<String>,
    #[serde(default = "end_session_on_purchase")]
    end_session_on_purchase: bool,
}

const fn hold_seconds() -> u32 {
    600
}
const fn hold_max_seconds() -> u32 {
    1800
}
const fn late_grace_seconds() -> u32 {
    30
}
const fn payment_unknown_seconds() -> u32 {
    300
}
const fn event_ticket_limit() -> u32 {
    6
}
const fn orphan_rule() -> OrphanRule {
    OrphanRule::Lenient
}
const fn end_session_on_purchase() -> bool {
    true
}

/// Creates an event with all its seats available.
#[utoipa::path(post, path = "/admin/v1/events", tag = "operators", request_body = CreateEvent,
    responses((status = 201, description = "created", body = EventView), (status = 404, description = "unknown-venue"),
              (status = 409, description = "event-exists"), (status = 422, description = "invalid, naming every field; not-supported")))]
pub(super) async fn create(
    _: Operator,
    State(state): State<AppState>,
    body::Json(request): body::Json<CreateEvent>,
) -> Refusal<Response> {
    let venue: VenueId = request.venue_id.parse().map_err(|_| Kind::UnknownVenue)?;
    check_engine(&state, request.hold_engine.as_deref())?;
    if request.orphan_rule == OrphanRule::Strict {
        return Err(Problem::new(Kind::NotSupported).detail("orphan_rule strict is not supported yet"));
    }
    let mut connection = state.db.acquire().await?;
    let chart = seating::store::load_chart(&mut connection, &venue).await?.ok_or(Kind::UnknownVenue)?;
    drop(connection);
    let (mut event, prices) = check(request, venue, &chart).map_err(|faults| body::invalid(&faults))?;
    let (layout_id, layout) = seating::document(&chart, &prices, &event.currency);
    event.layout_id = layout_id;
    let seats = u32::try_from(chart.seats.len()).unwrap_or(u32::MAX);
    let work = Arc::new((event, prices, layout));
    let stored = work.clone();
    let inserted = db::transact("create_event", &state.db, move |tx| {
        let work = stored.clone();
        Box::pin(async move {
            let (event, prices, layout) = &*work;
            seating::store::insert_layout(tx, &event.layout_id, layout).await?;
            if !store::insert(tx, event, "redis").await? {
                return Ok::<_, sqlx::Error>(false);
            }
            seating::store::insert_event_seats(tx, &event.event_id, seats, prices).await?;
            Ok(true)
        })
    })
    .await?;
    if !inserted {
        return Err(Kind::EventExists.into());
    }
    let event = &work.0;
    state.events.reread(&event.event_id).await?;
    // A hold store that is away now is prepared by the first hold instead.
    if let Err(error) = state.holds.prepare(&event.event_id).await {
        tracing::warn!(%error, event = %event.event_id, "the hold store is not prepared yet");
    }
    Ok((StatusCode::CREATED, Json(EventView::from(event))).into_response())
}

fn check_engine(state: &AppState, engine: Option<&str>) -> Result<(), Problem> {
    match engine {
        None | Some("redis") if state.holds.is_configured() => Ok(()),
        None | Some("redis") => Err(Problem::new(Kind::NotSupported)
            .detail("no Redis is configured, and the postgres engine is not ready")),
        Some("postgres") => {
            Err(Problem::new(Kind::NotSupported).detail("hold_engine postgres is not supported yet"))
        }
        Some(_) => Err(body::invalid(&[FieldError::new("/hold_engine", "redis or postgres")])),
    }
}

/// Amounts by category id.
type Prices = Vec<(String, i64)>;

/// The event and its prices, or every fault.
fn check(request: CreateEvent, venue_id: VenueId, chart: &Chart) -> Result<(Event, Prices), Vec<FieldError>> {
    let mut faults = Vec::new();
    let mut fault = |pointer: &str, detail: &str| faults.push(FieldError::new(pointer, detail));
    let event_id = request.event_id.parse().ok();
    if event_id.is_none() {
        fault("/event_id", "1 to 64 letters, digits, _ and -");
    }
    let title: String = request.title.trim().nfc().collect();
    if !fits_title(&title) {
        fault("/title", TITLE_RULE);
    }
    if !fits_year(request.starts_at.year()) {
        fault("/starts_at", YEAR_RULE);
    }
    if !fits_year(request.onsale_at.year()) {
        fault("/onsale_at", YEAR_RULE);
    }
    if request.timezone.parse::<chrono_tz::Tz>().is_err() {
        fault("/timezone", "not an IANA time zone");
    }
    if request.currency.len() != 3 || !request.currency.bytes().all(|b| b.is_ascii_uppercase()) {
        fault("/currency", "three capital letters of ISO 4217");
    }
    for (pointer, value, least) in [
        ("/hold_seconds", request.hold_seconds, 1),
        ("/hold_max_seconds", request.hold_max_seconds, request.hold_seconds.max(1)),
        ("/late_grace_seconds", request.late_grace_seconds, 0),
        ("/payment_unknown_seconds", request.payment_unknown_seconds, 1),
    ] {
        if value < least || value > SECONDS_MAX {
            fault(pointer, &format!("{least} to {SECONDS_MAX} seconds"));
        }
    }
    for (pointer, value) in [
        ("/event_ticket_limit", Some(request.event_ticket_limit)),
        ("/instrument_ticket_limit", request.instrument_ticket_limit),
    ] {
        if value.is_some_and(|n| n == 0 || n > LIMIT_MAX) {
            fault(pointer, &format!("1 to {LIMIT_MAX}"));
        }
    }
    let prices = check_prices(&request.prices, chart, &mut faults);
    let Some(event_id) = event_id.filter(|_| faults.is_empty()) else { return Err(faults) };
    let event = Event {
        event_id,
        title,
        venue_id,
        starts_at: request.starts_at,
        timezone: request.timezone,
        onsale_at: request.onsale_at,
        status: EventStatus::Onsale,
        currency: request.currency,
        hold_seconds: request.hold_seconds,
        hold_max_seconds: request.hold_max_seconds,
        late_grace_seconds: request.late_grace_seconds,
        payment_unknown_seconds: request.payment_unknown_seconds,
        event_ticket_limit: request.event_ticket_limit,
        instrument_ticket_limit: request.instrument_ticket_limit,
        orphan_rule: request.orphan_rule,
        end_session_on_purchase: request.end_session_on_purchase,
        layout_id: String::new(),
    };
    Ok((event, prices))
}

/// Prices by category id; they may be given by id or by name, and every category needs one.
fn check_prices(
    given: &HashMap<String, i64>,
    chart: &Chart,
    faults: &mut Vec<FieldError>,
) -> Vec<(String, i64)> {
    let mut prices = Vec::new();
    for category in &chart.categories {
        match given.get(&category.id).or_else(|| given.get(&category.name)) {
            Some(price) => prices.push((category.id.clone(), *price)),
            None => {
                faults.push(FieldError::new(
                    "/prices",
                    format!("no price for {} ({})", category.id, category.name),
                ));
            }
        }
    }
    for (name, price) in given {
        let pointer = format!("/prices/{}", name.replace('~', "~0").replace('/', "~1"));
        if !chart.categories.iter().any(|category| category.id == *name || category.name == *name) {
            faults.push(FieldError::new(&pointer, "the venue has no such category"));
        }
        if *price < 0 || *price > PRICE_MAX {
            faults.push(FieldError::new(&pointer, format!("0 to {PRICE_MAX} minor units")));
        }
    }
    prices
}
