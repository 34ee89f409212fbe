//! Operators and machines: a bearer token.

use axum::extract::FromRequestParts;
use http::request::Parts;
use shared_token::keys::same_secret;

use super::bearer;
use crate::{
    AppState,
    problem::{Kind, Problem},
};

/// A caller with the operators' token: all of `/admin` and `/internal`.
#[derive(Clone, Copy, Debug)]
pub struct Operator;

impl FromRequestParts<AppState> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let presented = bearer(&parts.headers).unwrap_or_default();
        if same_secret(presented, state.config.admin_token.expose()) {
            Ok(Self)
        } else {
            Err(Kind::Unauthorized.into())
        }
    }
}
