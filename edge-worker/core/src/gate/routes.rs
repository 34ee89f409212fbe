//! Which rule of an event a request meets.

use std::borrow::Cow;

use crate::wire::{EventConfig, Proof};

/// Times a path is decoded at most. Each takes work, so a path of nothing but `%25` must not buy much of it.
const MAX_DECODINGS: usize = 4;

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
    /// The same in lower case.
    lower: String,
    /// Empty means all.
    methods: Vec<String>,
}

impl Pattern {
    fn new(path: &str, methods: &[String]) -> Self {
        Self { path: path.to_owned(), lower: path.to_ascii_lowercase(), methods: methods.to_vec() }
    }

    /// Whether this exact spelling is meant.
    fn covers(&self, method: &str, path: &str) -> bool {
        self.covers_method(method) && glob(&self.path, path)
    }

    /// Whether an origin that ignores case and slashes at the end may take one of these spellings for what is meant.
    fn may_cover(&self, method: &str, lenient: &[String]) -> bool {
        self.covers_method(method) && lenient.iter().any(|path| glob(&self.lower, path))
    }

    fn covers_method(&self, method: &str) -> bool {
        // HEAD is a GET without its body: a rule for GET that let HEAD pass would leak what it guards.
        let method = if method == "HEAD" { "GET" } else { method };
        let named = |name: &String| name == method || (name == "HEAD" && method == "GET");
        self.methods.is_empty() || self.methods.iter().any(named)
    }
}

impl RouteTable {
    /// The table of an event.
    pub fn of(config: &EventConfig) -> Self {
        let protect = config.protect.iter();
        Self {
            bypass: config.bypass.iter().map(|route| Pattern::new(&route.path, &route.methods)).collect(),
            protect: protect.map(|route| (Pattern::new(&route.path, &route.methods), route.proof)).collect(),
        }
    }

    /// The rule for a request. `path` is as it stands in the URL, without the query.
    ///
    /// An origin may decode `%68olds`, once or until nothing is left to decode, merge `//`, ignore case or a slash at
    /// the end. So all these spellings are tried: protected if any is, bypassed only if each decoded one is, as it
    /// stands. Of several rules that match, one that wants a proof wins.
    pub fn rule(&self, method: &str, path: &str) -> Rule {
        if self.protect.is_empty() {
            return Rule::Open;
        }
        let decoded = decodings(path);
        let lenient = lenient(&decoded);
        let met = self.protect.iter().filter(|(pattern, _)| pattern.may_cover(method, &lenient));
        let mut rule = Rule::Open;
        for (_, proof) in met {
            if rule != (Rule::Session { proof: Proof::Dpop }) {
                rule = Rule::Session { proof: *proof };
            }
        }
        if rule == Rule::Open {
            return rule;
        }
        let bypassed = |path: &Cow<'_, str>| self.bypass.iter().any(|pattern| pattern.covers(method, path));
        if decoded.iter().all(bypassed) { Rule::Open } else { rule }
    }
}

/// The path as it stands and as servers that decode once, twice and so on read it. No honest client encodes more often
/// than the bound.
fn decodings(path: &str) -> Vec<Cow<'_, str>> {
    let mut decoded = vec![Cow::Borrowed(path)];
    while decoded.len() <= MAX_DECODINGS {
        let last = decoded.last().map_or(path, |last| last);
        match plain_path(last) {
            Cow::Owned(plain) if plain != last => decoded.push(Cow::Owned(plain)),
            _ => break,
        }
    }
    decoded
}

/// In lower case, with and without a slash at the end.
fn lenient(decoded: &[Cow<'_, str>]) -> Vec<String> {
    let mut spellings = Vec::with_capacity(2 * decoded.len());
    for path in decoded {
        let lower = path.to_ascii_lowercase();
        let bare = lower.trim_end_matches('/');
        spellings.push(format!("{bare}/"));
        spellings.push(bare.to_owned());
    }
    spellings
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
