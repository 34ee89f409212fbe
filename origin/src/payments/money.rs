//! Money: integer minor units of one currency.

use std::{fmt, str::FromStr};

/// Currencies without minor units (ISO 4217 exponent 0).
const ZERO_DECIMALS: [&str; 16] = [
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF",
    "XPF",
];
/// Currencies with thousandths (ISO 4217 exponent 3).
const THREE_DECIMALS: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// Not an ISO 4217 code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a currency code")]
pub struct InvalidCurrency;

/// An ISO 4217 currency code.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The code, upper case.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }

    /// How many decimals the minor unit is.
    pub fn exponent(self) -> u32 {
        if ZERO_DECIMALS.contains(&self.code()) {
            0
        } else if THREE_DECIMALS.contains(&self.code()) {
            3
        } else {
            2
        }
    }
}

impl FromStr for Currency {
    type Err = InvalidCurrency;

    fn from_str(text: &str) -> Result<Self, InvalidCurrency> {
        match text.as_bytes() {
            [a, b, c] if text.bytes().all(|byte| byte.is_ascii_uppercase()) => Ok(Self([*a, *b, *c])),
            _ => Err(InvalidCurrency),
        }
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// An amount of one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    /// Minor units, never negative where a provider is asked for them.
    pub minor: i64,
    /// What they are units of.
    pub currency: Currency,
}

impl fmt::Display for Money {
    /// For people in logs: `45.00 EUR`, `4500 JPY`, `4.500 KWD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exponent = self.currency.exponent();
        let scale = 10_u64.pow(exponent);
        let (sign, minor) = (if self.minor < 0 { "-" } else { "" }, self.minor.unsigned_abs());
        match exponent {
            0 => write!(f, "{sign}{minor} {}", self.currency.code()),
            _ => {
                let width = exponent as usize;
                write!(f, "{sign}{}.{:0width$} {}", minor / scale, minor % scale, self.currency.code())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(minor: i64, currency: &str) -> String {
        Money { minor, currency: currency.parse().unwrap() }.to_string()
    }

    #[test]
    fn exponents_are_those_of_iso_4217() {
        assert_eq!(shown(4500, "EUR"), "45.00 EUR");
        assert_eq!(shown(4500, "JPY"), "4500 JPY");
        assert_eq!(shown(4500, "KWD"), "4.500 KWD");
        assert_eq!(shown(-5, "USD"), "-0.05 USD");
    }

    #[test]
    fn only_codes_are_currencies() {
        for text in ["", "eur", "EURO", "E1R", "€UR"] {
            assert!(text.parse::<Currency>().is_err(), "{text}");
        }
    }
}
