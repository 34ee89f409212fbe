//! Reading the catalogue.

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, NaiveDateTime, Utc};
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

use crate::{
    AppState,
    body::Params,
    events::{Event, EventStatus, store},
    problem::{Kind, Problem, Refusal},
    seat_map::find_event,
};

const PAGE: u32 = 20;
const PAGE_MAX: u32 = 100;
const TEXT_MAX: usize = 200;

/// An event as fans see it.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventView {
    event_id: String,
    title: String,
    venue_id: String,
    #[schema(value_type = String)]
    starts_at: NaiveDateTime,
    timezone: String,
    #[schema(value_type = String)]
    starts_at_utc: Option<DateTime<Utc>>,
    #[schema(value_type = String)]
    onsale_at: DateTime<Utc>,
    status: EventStatus,
    currency: String,
    hold_seconds: u32,
    hold_max_seconds: u32,
    event_ticket_limit: u32,
    layout_url: String,
}

impl From<&Event> for EventView {
    fn from(event: &Event) -> Self {
        Self {
            event_id: event.event_id.to_string(),
            title: event.title.clone(),
            venue_id: event.venue_id.to_string(),
            starts_at: event.starts_at,
            timezone: event.timezone.clone(),
            starts_at_utc: event.starts_at_utc(),
            onsale_at: event.onsale_at,
            status: event.status,
            currency: event.currency.clone(),
            hold_seconds: event.hold_seconds,
            hold_max_seconds: event.hold_max_seconds,
            event_ticket_limit: event.event_ticket_limit,
            layout_url: format!("/v1/layouts/{}", event.layout_id),
        }
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    status: Option<String>,
    q: Option<String>,
    from: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

#[derive(Serialize)]
struct EventPage {
    events: Vec<EventView>,
    next_cursor: Option<String>,
}

/// The catalogue in order of start, by pages.
#[utoipa::path(get, path = "/v1/events", tag = "catalogue",
    params(("status" = Option<String>, Query), ("q" = Option<String>, Query, description = "part of the title"),
           ("from" = Option<String>, Query, description = "starts at or after (date, or local date and time)"),
           ("limit" = Option<u32>, Query), ("cursor" = Option<String>, Query)),
    responses((status = 200, description = "a page: `events` and `next_cursor`"), (status = 400, description = "malformed")))]
pub(super) async fn list(
    State(state): State<AppState>,
    Params(query): Params<ListQuery>,
) -> Refusal<Response> {
    let limit = query.limit.unwrap_or(PAGE);
    if limit == 0 || limit > PAGE_MAX {
        return Err(malformed(format!("limit must be 1 to {PAGE_MAX}")));
    }
    let page = store::PageQuery {
        status: query
            .status
            .as_ref()
            .map(|s| s.parse().map_err(|()| malformed("unknown status")))
            .transpose()?,
        // Titles are stored in NFC.
        text: query.q.as_ref().filter(|text| !text.is_empty()).map(|text| text.nfc().collect()),
        from: query
            .from
            .as_ref()
            .map(|text| parse_from(text).ok_or_else(|| malformed("from is not a date")))
            .transpose()?,
        after: query
            .cursor
            .as_ref()
            .map(|c| decode_cursor(c).ok_or_else(|| malformed("not a cursor")))
            .transpose()?,
        limit: i64::from(limit) + 1,
    };
    if page.text.as_ref().is_some_and(|text| text.len() > TEXT_MAX || text.contains('\0')) {
        return Err(malformed("q is too long or has a NUL"));
    }
    let mut rows = store::page(&state.db, &page).await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = if more { rows.last().map(encode_cursor) } else { None };
    let link = next_cursor.as_ref().and_then(|cursor| next_link(&query, limit, cursor));
    let body = EventPage { events: rows.iter().map(EventView::from).collect(), next_cursor };
    let mut response = Json(body).into_response();
    if let Some(link) = link {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// The page behind this one, with the same filters.
fn next_link(query: &ListQuery, limit: u32, cursor: &str) -> Option<HeaderValue> {
    let next = ListQuery {
        limit: Some(limit),
        cursor: Some(cursor.to_owned()),
        status: query.status.clone(),
        q: query.q.clone(),
        from: query.from.clone(),
    };
    let parameters = serde_urlencoded::to_string(&next).ok()?;
    HeaderValue::from_str(&format!("</v1/events?{parameters}>; rel=\"next\"")).ok()
}

/// One event.
#[utoipa::path(get, path = "/v1/events/{event}", tag = "catalogue", params(("event" = String, Path)),
    responses((status = 200, description = "the event", body = EventView), (status = 404, description = "unknown-event")))]
pub(super) async fn show(
    State(state): State<AppState>,
    Path(event): Path<String>,
) -> Refusal<Json<EventView>> {
    let on_shelf = find_event(&state, &event).await?;
    Ok(Json(EventView::from(&on_shelf.event)))
}

fn malformed(detail: impl Into<String>) -> Problem {
    Problem::new(Kind::Malformed).detail(detail)
}

fn parse_from(text: &str) -> Option<NaiveDateTime> {
    let date = || text.parse::<chrono::NaiveDate>().ok()?.and_hms_opt(0, 0, 0);
    let instant = || DateTime::parse_from_rfc3339(text).ok().map(|at| at.naive_utc());
    text.parse().ok().or_else(date).or_else(instant)
}

fn encode_cursor(event: &Event) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {}", event.starts_at.and_utc().timestamp_micros(), event.event_id))
}

fn decode_cursor(cursor: &str) -> Option<(NaiveDateTime, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (micros, id) = text.split_once(' ')?;
    Some((DateTime::from_timestamp_micros(micros.parse().ok()?)?.naive_utc(), id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::sample_event;

    #[test]
    fn cursors_come_back_with_microseconds() {
        let mut event = sample_event();
        event.starts_at = "2027-06-05T19:30:00.123456".parse().unwrap();
        let (at, id) = decode_cursor(&encode_cursor(&event)).unwrap();
        assert_eq!((at, id.as_str()), (event.starts_at, "evt_1"));
        for bad in ["", "!", "eA", &URL_SAFE_NO_PAD.encode("9999999999999999999 x")] {
            assert!(decode_cursor(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn from_takes_dates_and_instants() {
        assert!(parse_from("2027-06-05").is_some());
        assert!(parse_from("2027-06-05T10:00:00").is_some());
        assert!(parse_from("2027-06-05T10:00:00Z").is_some());
        assert!(parse_from("soon").is_none());
    }
}
