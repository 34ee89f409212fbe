//! Bodies and queries, parsed strictly, refused as problem documents.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Query, Request, rejection::BytesRejection},
};
use http::{StatusCode, header, request::Parts};
use serde::de::DeserializeOwned;

use crate::problem::{Kind, Problem};

/// A JSON body of shape `T`.
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let RawJson(bytes) = RawJson::from_request(request, state).await?;
        parse(&bytes).map(Self)
    }
}

/// The bytes of a JSON body, for those who need a fingerprint of them too.
pub struct RawJson(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for RawJson {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let media = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        // No Content-Type at all is taken as JSON: nothing else is ever meant here.
        if media.is_some_and(|media| !is_json(media)) {
            return Err(Kind::UnsupportedMediaType.into());
        }
        Bytes::from_request(request, state).await.map(Self).map_err(|rejection| refuse_bytes(&rejection))
    }
}

/// Parses JSON; the detail names line and column.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => Problem::new(Kind::Invalid)
            .with("errors", serde_json::json!([{"pointer": "", "detail": error.to_string()}])),
        _ => Problem::new(Kind::Malformed).detail(error.to_string()),
    })
}

/// What a body that could not be read is answered with.
pub fn refuse_bytes(rejection: &BytesRejection) -> Problem {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        Kind::PayloadTooLarge.into()
    } else {
        Problem::new(Kind::Malformed).detail("the body could not be read")
    }
}

fn is_json(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
        || (essence.len() > 5
            && essence.get(essence.len() - 5..).is_some_and(|s| s.eq_ignore_ascii_case("+json")))
}

/// A query string of shape `T`.
pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(Problem::new(Kind::Malformed).detail(rejection.body_text())),
        }
    }
}

/// One fault of a request's fields.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) to the field.
    pub pointer: String,
    /// What is wrong with it.
    pub detail: String,
}

impl FieldError {
    /// A fault at `pointer`.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into() }
    }
}

/// 422 `invalid` naming every fault.
pub fn invalid(errors: &[FieldError]) -> Problem {
    Problem::new(Kind::Invalid).with("errors", serde_json::json!(errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_media_types() {
        for media in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
            assert!(is_json(media), "{media}");
        }
        for media in ["text/plain", "json", "+json", "application/x-www-form-urlencoded"] {
            assert!(!is_json(media), "{media}");
        }
    }

    #[test]
    fn broken_json_and_wrong_fields_differ() {
        assert_eq!(parse::<Vec<u8>>(b"[1,").unwrap_err().kind(), Kind::Malformed);
        assert_eq!(parse::<Vec<u8>>(b"[\"x\"]").unwrap_err().kind(), Kind::Invalid);
    }
}
