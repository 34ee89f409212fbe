//! What a client sent, as far as handlers look at it.

use edge_core::gate::ClientAddress;
use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use crate::config::Config;
use crate::problem::{Kind, Problem};

/// An inbound request. Header values are fetched when asked for: each crosses into JavaScript.
#[derive(Debug)]
pub(crate) struct Incoming {
    raw: web_sys::Request,
    headers: web_sys::Headers,
    method: String,
    url: String,
    /// Where path and query begin in `url`; the query without its `?`.
    path: (usize, usize),
}

impl Incoming {
    /// Wraps the runtime's request.
    pub(crate) fn new(raw: web_sys::Request) -> Self {
        let (method, url, headers) = (raw.method(), raw.url(), raw.headers());
        let path = split(&url);
        Self { raw, headers, method, url, path }
    }

    /// The runtime's request.
    pub(crate) fn raw(&self) -> &web_sys::Request {
        &self.raw
    }

    /// The method, as sent.
    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    /// The path as it stands in the URL, never decoded.
    pub(crate) fn path(&self) -> &str {
        self.url.get(self.path.0..self.path.1).unwrap_or("/")
    }

    /// The query without its `?`.
    pub(crate) fn query(&self) -> &str {
        self.url.get(self.path.1..).and_then(|rest| rest.strip_prefix('?')).unwrap_or_default()
    }

    /// Path and query, byte for byte.
    pub(crate) fn target(&self) -> &str {
        self.url.get(self.path.0..).unwrap_or("/")
    }

    /// The first value of a query parameter, as it stands there.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        let pairs = self.query().split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).ok().flatten()
    }

    /// The credential of an `Authorization` header with one of these schemes (lower case).
    pub(crate) fn credential(&self, schemes: &[&str]) -> Option<String> {
        let header = self.header("Authorization")?;
        let (scheme, credential) = header.split_once(' ')?;
        let known = schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let credential = credential.trim();
        (known && !credential.is_empty()).then(|| credential.to_owned())
    }

    /// Where the client is. The platform sets the header; on loopback tests do, and nobody need.
    pub(crate) fn client(&self, config: &Config) -> Option<ClientAddress> {
        let named = self.header("CF-Connecting-IP").and_then(|value| ClientAddress::parse(&value));
        named.or(config.local.then_some(ClientAddress::LOOPBACK))
    }

    /// The body of at most `limit` bytes, which must be declared as JSON.
    pub(crate) async fn json_bytes(&self, limit: usize) -> Result<Vec<u8>, Problem> {
        let media_type = self.header("Content-Type").unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            return Err(Problem::new(Kind::WrongMediaType, "Send the body as application/json."));
        }
        self.body(limit).await
    }

    /// The body of at most `limit` bytes. What is longer is not read to its end.
    pub(crate) async fn body(&self, limit: usize) -> Result<Vec<u8>, Problem> {
        let too_large =
            || Problem::new(Kind::TooLarge, "The body is longer than this call takes.").with("limit", limit);
        let broken = |_| Problem::new(Kind::Malformed, "The body broke off.");
        let declared = self.header("Content-Length").and_then(|length| length.parse::<usize>().ok());
        match declared {
            Some(length) if length > limit => return Err(too_large()),
            // The runtime reads no more than was declared.
            Some(_) => {
                let buffer = self.raw.array_buffer().map_err(broken)?;
                let buffer = JsFuture::from(buffer).await.map_err(broken)?;
                return Ok(Uint8Array::new(&buffer).to_vec());
            }
            None => {}
        }
        let Some(stream) = self.raw.body() else { return Ok(Vec::new()) };
        let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
        let mut body = Vec::new();
        loop {
            let result = JsFuture::from(reader.read()).await.map_err(broken)?;
            let chunk = js_sys::Reflect::get(&result, &"value".into()).map_err(broken)?;
            if chunk.is_undefined() {
                return Ok(body);
            }
            let chunk: Uint8Array = chunk.unchecked_into();
            let more = usize::try_from(chunk.length()).unwrap_or(usize::MAX);
            if body.len().saturating_add(more) > limit {
                drop(reader.cancel());
                return Err(too_large());
            }
            body.extend_from_slice(&chunk.to_vec());
        }
    }
}

/// Bounds of the path in an absolute URL as the runtime serializes it.
fn split(url: &str) -> (usize, usize) {
    let host = url.find("://").map_or(0, |at| at + 3);
    let bytes = url.as_bytes();
    let end_of = |from: usize, stops: &[u8]| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().position(|byte| stops.contains(byte)).map_or(url.len(), |at| from + at)
    };
    let path = end_of(host, b"/?#");
    (path, end_of(path, b"?#"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_falls_into_path_and_query() {
        for (url, path, rest) in [
            ("https://a.example/", "/", ""),
            ("https://a.example/x/y?z=1", "/x/y", "?z=1"),
            ("http://127.0.0.1:8787/x?a=/b?c", "/x", "?a=/b?c"),
            ("https://a.example", "", ""),
        ] {
            let (from, to) = split(url);
            assert_eq!((&url[from..to], &url[to..]), (path, rest), "{url}");
        }
    }
}
