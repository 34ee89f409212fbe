//! The seat map over HTTP.

use axum::{
    Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use utoipa::OpenApi;

use super::{log::SinceError, packed::Planes, snapshot::Body, stream};
use crate::{
    AppState,
    body::Params,
    events::OnShelf,
    problem::{Kind, Problem, Refusal},
};

/// The description of these routes.
#[derive(OpenApi)]
#[openapi(paths(seatmap, changes, stream::stream))]
pub struct Docs;

/// Fans' routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/v1/events/{event}/seatmap", get(seatmap))
        .route("/v1/events/{event}/seatmap/changes", get(changes))
        .route("/v1/events/{event}/seatmap/stream", get(stream::stream))
}

/// The event of a path, from the shelf.
pub async fn find_event(state: &AppState, event: &str) -> Refusal<std::sync::Arc<OnShelf>> {
    let event = event.parse().map_err(|_| Kind::UnknownEvent)?;
    state.events.get(&event).await?.ok_or_else(|| Kind::UnknownEvent.into())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MapQuery {
    format: Option<String>,
    planes: Option<u8>,
}

/// The seat map, packed or as JSON, with ETag.
#[utoipa::path(get, path = "/v1/events/{event}/seatmap", tag = "seat map",
    params(("event" = String, Path), ("format" = Option<String>, Query, description = "`json` (default) or `bin`"),
           ("planes" = Option<u8>, Query, description = "with `bin`: 1 (default) or 2")),
    responses((status = 200, description = "the map"), (status = 304, description = "unchanged"),
              (status = 404, description = "unknown-event"), (status = 503, description = "holds-rebuilding")))]
async fn seatmap(
    State(state): State<AppState>,
    Path(event): Path<String>,
    Params(query): Params<MapQuery>,
    headers: HeaderMap,
) -> Refusal<Response> {
    let planes = match (query.format.as_deref(), query.planes) {
        (None | Some("json"), None) => None,
        (Some("bin"), None | Some(1)) => Some(Planes::One),
        (Some("bin"), Some(2)) => Some(Planes::Two),
        _ => return Err(Problem::new(Kind::Malformed).detail("format is json or bin, planes is 1 or 2")),
    };
    let on_shelf = find_event(&state, &event).await?;
    let map = state.maps.current(&on_shelf).await?;
    let (etag, media, body) = match planes {
        Some(planes) => {
            let etag = format!("\"{}-{}\"", map.version(), planes.count());
            (etag, "application/octet-stream", map.packed(planes))
        }
        None => (format!("\"{}-json\"", map.version()), "application/json", map.json(&on_shelf.plan)),
    };
    Ok(cacheable(&headers, &etag, media, "public, max-age=1", body))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SinceQuery {
    since: u64,
}

/// What changed since a version.
#[utoipa::path(get, path = "/v1/events/{event}/seatmap/changes", tag = "seat map",
    params(("event" = String, Path), ("since" = u64, Query)),
    responses((status = 200, description = "changes", body = super::Delta),
              (status = 410, description = "version-too-old")))]
async fn changes(
    State(state): State<AppState>,
    Path(event): Path<String>,
    Params(query): Params<SinceQuery>,
) -> Refusal<Response> {
    let on_shelf = find_event(&state, &event).await?;
    match state.maps.since(&on_shelf, query.since).await? {
        Ok(delta) => Ok(([(header::CACHE_CONTROL, "public, max-age=1")], axum::Json(delta)).into_response()),
        Err(SinceError::TooOld | SinceError::Ahead) => Err(Kind::VersionTooOld.into()),
    }
}

/// 200 with the body, compressed if the client takes that, or 304.
pub fn cacheable(
    headers: &HeaderMap,
    etag: &str,
    media: &'static str,
    cache_control: &'static str,
    body: &Body,
) -> Response {
    let mut response = if matches_etag(headers, etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let gzip = accepts_gzip(headers) && !body.gzip.is_empty();
        let bytes: Bytes = if gzip { body.gzip.clone() } else { body.plain.clone() };
        let mut response = bytes.into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        if gzip {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    };
    let out = response.headers_mut();
    if let Ok(etag) = HeaderValue::from_str(etag) {
        out.insert(header::ETAG, etag);
    }
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

fn matches_etag(headers: &HeaderMap, etag: &str) -> bool {
    headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.trim() == "*" || value.split(',').any(|one| one.trim().trim_start_matches("W/") == etag)
    })
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused =
            parts.any(|p| p.strip_prefix("q=").is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q == 0.0)));
        (name.eq_ignore_ascii_case("gzip") || name == "*") && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_codings_and_etags() {
        let with = |name: header::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            headers
        };
        assert!(accepts_gzip(&with(header::ACCEPT_ENCODING, "br, gzip;q=0.5")));
        assert!(!accepts_gzip(&with(header::ACCEPT_ENCODING, "gzip;q=0, br")));
        assert!(!accepts_gzip(&HeaderMap::new()));
        assert!(matches_etag(&with(header::IF_NONE_MATCH, "\"7-1\", W/\"8-1\""), "\"8-1\""));
        assert!(!matches_etag(&with(header::IF_NONE_MATCH, "\"7-1\""), "\"8-1\""));
    }
}
