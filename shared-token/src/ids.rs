//! Names that travel in tokens: events, subjects and random identifiers.

use crate::base64url;
use crate::text::serde_as_text;
use crate::thumbprint::Thumbprint;
use std::fmt;
use std::str::FromStr;

/// Longest event id; it stands in URLs, cookie names and object names.
pub const MAX_EVENT_ID_BYTES: usize = 64;
/// Longest account id: the bound OpenID Connect sets for `sub`.
pub const MAX_ACCOUNT_ID_BYTES: usize = 255;
/// Longest id of a fan without JavaScript.
pub const MAX_FORM_ID_BYTES: usize = 64;

/// An id that does not have the form its kind requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {kind}")]
pub struct InvalidId {
    kind: &'static str,
}

impl InvalidId {
    pub(crate) const fn new(kind: &'static str) -> Self {
        Self { kind }
    }
}

/// An event id: `[A-Za-z0-9_-]{1,64}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(Box<str>);

impl EventId {
    /// The id as it stands in URLs.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EventId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if is_plain(text, MAX_EVENT_ID_BYTES) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidId::new("event id"))
        }
    }
}

impl AsRef<str> for EventId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

serde_as_text!(EventId);

/// Who a token is about: one subject, one place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// A verified account, `acct:<id>`.
    Account(String),
    /// A fan known by the key generated in the browser, `key:<jkt>`.
    Key(Thumbprint),
    /// A fan without JavaScript and so without a key, `form:<id>`.
    Form(String),
}

impl FromStr for Subject {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = InvalidId::new("subject");
        let (kind, id) = text.split_once(':').ok_or(invalid)?;
        match kind {
            // Visible ASCII only: a subject is compared byte by byte and stands in logs and headers.
            "acct"
                if (1..=MAX_ACCOUNT_ID_BYTES).contains(&id.len())
                    && id.bytes().all(|byte| byte.is_ascii_graphic()) =>
            {
                Ok(Self::Account(id.to_owned()))
            }
            "key" => id.parse().map(Self::Key),
            "form" if is_plain(id, MAX_FORM_ID_BYTES) => Ok(Self::Form(id.to_owned())),
            _ => Err(invalid),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(id) => write!(formatter, "acct:{id}"),
            Self::Key(thumbprint) => write!(formatter, "key:{thumbprint}"),
            Self::Form(id) => write!(formatter, "form:{id}"),
        }
    }
}

serde_as_text!(Subject);

/// The text of a random identifier (`jti`, `sid`, `inc`, `form:` ids): 16 bytes are 128 bits, so two billion of
/// them collide with a chance below 2⁻⁶⁶.
#[must_use]
pub fn random_id(random: &[u8; 16]) -> String {
    base64url::encode(random)
}

/// Whether `text` is one to `max` bytes of `[A-Za-z0-9_-]`.
pub(crate) fn is_plain(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
