//! Which rule of an event a request meets.

use std::borrow::Cow;

use crate::wire::{EventConfig, Proof};

/// What the gate does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// No session is needed.
    Open,
    /// A live session is needed, and for a write a proof by its key.
    Session {
        /// What a write proves.
        proof: Proof,
    },
}

/// An event's protected and bypassed routes, ready to be matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteTable {
    bypass: Vec<Pattern>,
    protect: Vec<(Pattern, Proof)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    path: String,
    /// Empty means all.
    methods: Vec<String>,
}

impl Pattern {
    fn covers(&self, method: &str, path: &str) -> bool {
        // HEAD is a GET without its body: a rule for GET that let HEAD pass would leak what it guards.
        let method = if method == "HEAD" { "GET" } else { method };
        let named = |name: &String| name == method || (name == "HEAD" && method == "GET");
        glob(&self.path, path) && (self.methods.is_empty() || self.methods.iter().any(named))
    }
}

impl RouteTable {
    /// The table of an event.
    pub fn of(config: &EventConfig) -> Self {
        let pattern =
            |path: &String, methods: &Vec<String>| Pattern { path: path.clone(), methods: methods.clone() };
        Self {
            bypass: config.bypass.iter().map(|route| pattern(&route.path, &route.methods)).collect(),
            protect: config
                .protect
                .iter()
                .map(|route| (pattern(&route.path, &route.methods), route.proof))
                .collect(),
        }
    }

    /// The rule for a request. `path` is as it stands in the URL, without the query.
    ///
    /// An origin may decode `%68olds` or merge `//`, so both spellings are tried: protected if either is, bypassed
    /// only if both are. Of several rules that match, one that wants a proof wins.
    pub fn rule(&self, method: &str, path: &str) -> Rule {
        let plain = plain_path(path);
        let spelled_twice = plain != path;
        let met = self.protect.iter().filter(|(pattern, _)| {
            pattern.covers(method, path) || (spelled_twice && pattern.covers(method, &plain))
        });
        let mut rule = Rule::Open;
        for (_, proof) in met {
            if rule != (Rule::Session { proof: Proof::Dpop }) {
                rule = Rule::Session { proof: *proof };
            }
        }
        if rule == Rule::Open {
            return rule;
        }
        let bypassed = |path: &str| self.bypass.iter().any(|pattern| pattern.covers(method, path));
        if bypassed(path) && (!spelled_twice || bypassed(&plain)) { Rule::Open } else { rule }
    }
}

/// Whether `text` matches `pattern`, in which each `*` stands for any text, `/` included.
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    // Each piece at its first occurrence leaves the most for the others; the last one is bound to the end.
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The path as a lenient server may read it: percent-decoded once, repeated slashes and dot segments resolved, path
/// parameters dropped.
pub fn plain_path(path: &str) -> Cow<'_, str> {
    let odd = path.contains('%') || path.contains("//") || path.contains("/.") || path.contains([';', '\\']);
    if !odd {
        return Cow::Borrowed(path);
    }
    let decoded = decode(path).replace('\\', "/");
    let mut segments: Vec<&str> = Vec::new();
    for segment in decoded.split('/') {
        match segment.split(';').next().unwrap_or_default() {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            plain => segments.push(plain),
        }
    }
    let mut plain = format!("/{}", segments.join("/"));
    if decoded.ends_with('/') && plain.len() > 1 {
        plain.push('/');
    }
    Cow::Owned(plain)
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let pair = behind.split_first_chunk::<2>().filter(|_| byte == b'%');
        let value = pair.and_then(|(pair, behind)| Some((hex(pair)?, behind)));
        let (byte, behind) = value.unwrap_or((byte, behind));
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(pair: &[u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let [high, low] = pair;
    Some(digit(*high)? << 4 | digit(*low)?)
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
