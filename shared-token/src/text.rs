//! Serde by way of `Display` and `FromStr`, without a `String` in between.

use serde::de::{Error, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// A visitor that parses a string into `T`.
pub(crate) struct Parse<T>(pub(crate) PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Parse<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Makes a type travel as its text.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::text::Parse(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use serde_as_text;
