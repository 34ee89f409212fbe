//! Answers the edge makes by itself.

use std::borrow::Cow;

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::JsValue;
use web_sys::{Headers, Response, ResponseInit};

/// An answer on its way out: plain data until [`Reply::into_response`].
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, Cow<'static, str>)>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Empty,
    Text(String),
    Static(&'static [u8]),
}

impl Reply {
    /// An answer without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Body::Empty }
    }

    /// An answer with a text body.
    pub(crate) fn text(status: u16, media_type: &'static str, text: String) -> Self {
        Self { status, headers: vec![("Content-Type", media_type.into())], body: Body::Text(text) }
    }

    /// An embedded file.
    pub(crate) fn file(media_type: &'static str, bytes: &'static [u8]) -> Self {
        Self { status: 200, headers: vec![("Content-Type", media_type.into())], body: Body::Static(bytes) }
    }

    /// A JSON answer that no cache keeps: everything said to one fan or operator.
    pub(crate) fn json(status: u16, value: &impl Serialize) -> Self {
        // The values serialized here are our own structs of strings and numbers, which cannot fail.
        let text = serde_json::to_string(value).unwrap_or_default();
        Self::text(status, "application/json", text).header("Cache-Control", "no-store")
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The runtime's form. `Set-Cookie` may stand several times, so headers are appended.
    pub(crate) fn into_response(self) -> Result<Response, JsValue> {
        let headers = Headers::new()?;
        for (name, value) in &self.headers {
            headers.append(name, value)?;
        }
        let init = ResponseInit::new();
        init.set_status(self.status);
        init.set_headers(&headers);
        match self.body {
            Body::Empty => Response::new_with_opt_str_and_init(None, &init),
            Body::Text(text) => Response::new_with_opt_str_and_init(Some(&text), &init),
            Body::Static(bytes) => {
                Response::new_with_opt_js_u8_array_and_init(Some(&Uint8Array::from(bytes)), &init)
            }
        }
    }
}
