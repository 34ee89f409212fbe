//! Form-encoded parameters with `metadata[key]` entries, each read exactly once.

use std::collections::BTreeMap;

use super::error::ApiError;

/// Parameters of one request. What no reader took is unknown, and unknown parameters are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(BTreeMap<String, String>);

impl Form {
    /// Parses a body or a query string.
    ///
    /// # Errors
    /// A name that occurs twice: the provider would take one of them silently.
    pub fn parse(raw: &[u8]) -> Result<Self, ApiError> {
        let mut fields = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(raw) {
            if fields.insert(name.to_string(), value.into_owned()).is_some() {
                return Err(ApiError::invalid(&name, "The parameter occurs more than once."));
            }
        }
        Ok(Self(fields))
    }

    /// The parameters in one order, for the idempotency fingerprint.
    #[must_use]
    pub fn canonical(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }

    /// Takes an optional parameter; an empty one counts as absent.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name).filter(|value| !value.is_empty())
    }

    /// Takes a required parameter.
    ///
    /// # Errors
    /// It is absent.
    pub fn require(&mut self, name: &str) -> Result<String, ApiError> {
        self.take(name).ok_or_else(|| ApiError::missing(name))
    }

    /// Takes an optional unsigned integer.
    ///
    /// # Errors
    /// It is not an integer.
    pub fn take_u64(&mut self, name: &str) -> Result<Option<u64>, ApiError> {
        self.take(name)
            .map(|value| {
                value.parse().map_err(|_| ApiError::invalid(name, format!("Invalid integer: {value}")))
            })
            .transpose()
    }

    /// Takes every `name[key]`.
    pub fn take_map(&mut self, name: &str) -> BTreeMap<String, String> {
        let prefix = format!("{name}[");
        let key_of = |field: &str| Some(field.strip_prefix(&prefix)?.strip_suffix(']')?.to_owned());
        let fields = std::mem::take(&mut self.0);
        let mut taken = BTreeMap::new();
        for (field, value) in fields {
            match key_of(&field) {
                Some(key) => {
                    taken.insert(key, value);
                }
                None => {
                    self.0.insert(field, value);
                }
            }
        }
        taken
    }

    /// Refuses what nobody took.
    ///
    /// # Errors
    /// A parameter is left.
    pub fn finish(self) -> Result<(), ApiError> {
        match self.0.keys().next() {
            Some(name) => Err(ApiError::unknown(name)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_taken_and_the_rest_is_unknown() {
        let mut form = Form::parse(b"amount=4500&metadata[order]=ord_1&metadata%5Ba%5D=b&odd=1").unwrap();
        assert_eq!(form.take_u64("amount").unwrap(), Some(4500));
        assert_eq!(form.take_map("metadata").len(), 2);
        assert_eq!(form.finish(), Err(ApiError::unknown("odd")));
    }

    #[test]
    fn twice_is_refused_and_order_does_not_matter() {
        assert!(Form::parse(b"a=1&a=2").is_err());
        assert_eq!(
            Form::parse(b"a=1&b=2").unwrap().canonical(),
            Form::parse(b"b=2&a=1").unwrap().canonical()
        );
    }
}
