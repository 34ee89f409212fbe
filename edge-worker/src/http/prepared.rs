//! An answer kept on the JavaScript side, so that serving it copies nothing through the wasm border.

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Headers, Response, ResponseInit};

/// Body, headers and status of an answer that is the same for everyone.
#[derive(Debug)]
pub(crate) struct Prepared {
    etag: String,
    immutable: bool,
    body: Uint8Array,
    full: ResponseInit,
    not_modified: ResponseInit,
}

impl Prepared {
    /// An answer of 200, or 304 to whoever has it. `headers` are sent with both.
    pub(crate) fn new(body: &[u8], etag: &str, headers: &[(&str, &str)]) -> Result<Self, JsValue> {
        Self::of(200, Uint8Array::from(body), etag, headers)
    }

    /// As [`Prepared::new`] with any status; a body whose `headers` name a `Content-Encoding` already is in it.
    pub(crate) fn of(
        status: u16,
        body: Uint8Array,
        etag: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, JsValue> {
        let full = init(status, headers, etag)?;
        if headers.iter().any(|(name, _)| *name == "Content-Encoding") {
            Reflect::set(&full, &"encodeBody".into(), &"manual".into())?;
        }
        let validators = headers.iter().filter(|(name, _)| !name.starts_with("Content-"));
        let validators: Vec<(&str, &str)> = validators.copied().collect();
        let forever = |(name, value): &(&str, &str)| *name == "Cache-Control" && value.contains("immutable");
        let immutable = status == 200 && headers.iter().any(forever);
        let not_modified = init(304, &validators, etag)?;
        Ok(Self { etag: etag.to_owned(), immutable, body, full, not_modified })
    }

    /// Its validator, if it has one.
    pub(crate) fn etag(&self) -> Option<&str> {
        (!self.etag.is_empty()).then_some(&*self.etag)
    }

    /// Whether what stands at its address never changes.
    pub(crate) fn is_immutable(&self) -> bool {
        self.immutable
    }

    /// Bytes it holds.
    pub(crate) fn size(&self) -> u64 {
        self.body.byte_length().into()
    }

    /// The answer to one request.
    pub(crate) fn respond(&self, method: &str, if_none_match: Option<&str>) -> Result<Response, JsValue> {
        if if_none_match.is_some_and(|tags| matches(tags, &self.etag)) {
            return Response::new_with_opt_str_and_init(None, &self.not_modified);
        }
        if method == "HEAD" {
            return Response::new_with_opt_str_and_init(None, &self.full);
        }
        Response::new_with_opt_js_u8_array_and_init(Some(&self.body), &self.full)
    }
}

/// Every part is made once here, so that an answer is one call across the border.
fn init(status: u16, headers: &[(&str, &str)], etag: &str) -> Result<ResponseInit, JsValue> {
    let init = ResponseInit::new();
    init.set_status(status);
    let list = Headers::new()?;
    for (name, value) in headers {
        list.set(name, value)?;
    }
    if !etag.is_empty() {
        list.set("ETag", etag)?;
    }
    init.set_headers(&list);
    Ok(init)
}

/// Whether an `If-None-Match` list names this tag; weak comparison, as RFC 9110 asks for it.
pub(crate) fn matches(list: &str, etag: &str) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let etag = strong(etag);
    !etag.is_empty() && list.split(',').any(|tag| tag.trim() == "*" || strong(tag) == etag)
}

/// Bytes of a response body as a JavaScript array.
pub(crate) async fn bytes_of(response: &Response) -> Result<Uint8Array, JsValue> {
    let buffer = wasm_bindgen_futures::JsFuture::from(response.array_buffer()?).await?;
    Ok(Uint8Array::new(buffer.unchecked_ref()))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn tags_compare_weakly_and_in_lists() {
        assert!(matches("\"a\"", "\"a\""));
        assert!(matches("\"x\", W/\"a\" ", "\"a\""));
        assert!(matches("\"a\"", "W/\"a\""));
        assert!(matches("*", "\"a\""));
        assert!(!matches("\"b\"", "\"a\""));
        assert!(!matches("", ""));
    }
}
