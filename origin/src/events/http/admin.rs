//! Changing an event: its status, its time, its title.

use axum::{
    Json,
    extract::{Path, State},
};
use chrono::{DateTime, Datelike, NaiveDateTime, Utc};
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

use super::{
    catalogue::EventView,
    create::{TITLE_RULE, YEAR_RULE, fits_title, fits_year},
};
use crate::{
    AppState,
    admitted::Operator,
    body::{self, FieldError},
    db,
    events::{Event, EventStatus, store},
    ids::EventId,
    problem::{Kind, Refusal},
};

/// What may change; what is absent stays.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeEvent {
    title: Option<String>,
    status: Option<EventStatus>,
    #[schema(value_type = Option<String>)]
    starts_at: Option<NaiveDateTime>,
    timezone: Option<String>,
    #[schema(value_type = Option<String>)]
    onsale_at: Option<DateTime<Utc>>,
}

impl ChangeEvent {
    fn check(&self) -> Vec<FieldError> {
        let mut faults = Vec::new();
        if self.title.as_ref().is_some_and(|title| !fits_title(&title.trim().nfc().collect::<String>())) {
            faults.push(FieldError::new("/title", TITLE_RULE));
        }
        if self.starts_at.is_some_and(|at| !fits_year(at.year())) {
            faults.push(FieldError::new("/starts_at", YEAR_RULE));
        }
        if self.onsale_at.is_some_and(|at| !fits_year(at.year())) {
            faults.push(FieldError::new("/onsale_at", YEAR_RULE));
        }
        if self.timezone.as_ref().is_some_and(|zone| zone.parse::<chrono_tz::Tz>().is_err()) {
            faults.push(FieldError::new("/timezone", "not an IANA time zone"));
        }
        faults
    }

    /// A new time makes the event `rescheduled` unless the operator says otherwise.
    fn apply(self, event: &mut Event) {
        let moved = self.starts_at.is_some_and(|at| at != event.starts_at)
            || self.timezone.as_ref().is_some_and(|zone| *zone != event.timezone);
        if let Some(title) = self.title {
            event.title = title.trim().nfc().collect();
        }
        event.starts_at = self.starts_at.unwrap_or(event.starts_at);
        if let Some(timezone) = self.timezone {
            event.timezone = timezone;
        }
        event.onsale_at = self.onsale_at.unwrap_or(event.onsale_at);
        event.status = match self.status {
            Some(status) => status,
            None if moved => EventStatus::Rescheduled,
            None => event.status,
        };
    }
}

/// Changes an event. A canceled event stays canceled.
#[utoipa::path(patch, path = "/admin/v1/events/{event}", tag = "operators", params(("event" = String, Path)),
    request_body = ChangeEvent,
    responses((status = 200, description = "as it is now", body = EventView),
              (status = 404, description = "unknown-event"), (status = 409, description = "event-not-on-sale")))]
pub(super) async fn change(
    _: Operator,
    State(state): State<AppState>,
    Path(event): Path<String>,
    body::Json(request): body::Json<ChangeEvent>,
) -> Refusal<Json<EventView>> {
    let id: EventId = event.parse().map_err(|_| Kind::UnknownEvent)?;
    let faults = request.check();
    if !faults.is_empty() {
        return Err(body::invalid(&faults));
    }
    let locked = id.clone();
    let changed = db::transact("change_event", &state.db, move |tx| {
        let (id, request) = (locked.clone(), request.clone());
        Box::pin(async move {
            let Some(mut event) = store::lock(tx, &id).await? else { return Ok::<_, sqlx::Error>(None) };
            if event.status == EventStatus::Canceled && request.status != Some(EventStatus::Canceled) {
                return Ok(Some(Err(event)));
            }
            request.apply(&mut event);
            store::update(tx, &event).await?;
            Ok(Some(Ok(event)))
        })
    })
    .await?;
    match changed {
        None => Err(Kind::UnknownEvent.into()),
        Some(Err(_)) => {
            Err(crate::problem::Problem::new(Kind::EventNotOnSale).with("event_status", "canceled"))
        }
        Some(Ok(event)) => {
            state.events.reread(&id).await?;
            Ok(Json(EventView::from(&event)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::sample_event;

    fn change(json: &str) -> ChangeEvent {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_new_time_reschedules_unless_the_operator_says_otherwise() {
        let mut event = sample_event();
        change(r#"{"starts_at":"2027-07-01T20:00:00"}"#).apply(&mut event);
        assert_eq!(event.status, EventStatus::Rescheduled);
        change(r#"{"starts_at":"2027-07-02T20:00:00","status":"postponed"}"#).apply(&mut event);
        assert_eq!(event.status, EventStatus::Postponed);
        let mut same = sample_event();
        change(r#"{"starts_at":"2027-06-05T19:30:00"}"#).apply(&mut same);
        assert_eq!(same, sample_event());
    }
}
