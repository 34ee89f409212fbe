//! Who is asking, as far as an address tells.

use std::net::{IpAddr, Ipv4Addr};

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

/// The network a client's address belongs to, as one number: a fan cannot leave it at will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix(u128);

/// /24 is the smallest IPv4 network announced on its own.
const V4_BITS: u32 = 24;
/// /56 is what a household gets; inside it one person has 256 networks at will.
const V6_BITS: u32 = 56;

impl ClientAddress {
    /// This machine: what a local stack assumes when nothing is said.
    pub const LOOPBACK: Self = Self(IpAddr::V4(Ipv4Addr::LOCALHOST));

    /// Reads the value of `CF-Connecting-IP`.
    pub fn parse(text: &str) -> Option<Self> {
        let address: IpAddr = text.trim().parse().ok()?;
        // An IPv4 client on a dual-stack socket is the same client.
        Some(Self(address.to_canonical()))
    }

    /// Whether it is this machine.
    pub fn is_loopback(&self) -> bool {
        self.0.is_loopback()
    }

    /// Its network.
    pub fn prefix(&self) -> Prefix {
        match self.0 {
            // The IPv4-mapped form keeps the two families apart.
            IpAddr::V4(address) => {
                let network = u32::from(address) & (u32::MAX << (32 - V4_BITS));
                Prefix(u128::from(Ipv4Addr::from(network).to_ipv6_mapped()))
            }
            IpAddr::V6(address) => Prefix(u128::from(address) & (u128::MAX << (128 - V6_BITS))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        ClientAddress::parse(text).unwrap().prefix()
    }

    #[test]
    fn neighbours_share_a_prefix_and_strangers_do_not() {
        assert_eq!(prefix("203.0.113.7"), prefix("203.0.113.250"));
        assert_ne!(prefix("203.0.113.7"), prefix("203.0.114.7"));
        assert_eq!(prefix("2001:db8:0:12ab::1"), prefix("2001:db8:0:12cd:ffff::2"));
        assert_ne!(prefix("2001:db8:0:12ab::1"), prefix("2001:db8:0:22ab::1"));
        assert_eq!(prefix("::ffff:203.0.113.7"), prefix("203.0.113.8"));
        assert_ne!(prefix("0.0.0.0"), prefix("::"));
    }

    #[test]
    fn nonsense_is_no_address() {
        for text in ["", "localhost", "1.2.3", "1.2.3.4, 5.6.7.8", "1.2.3.4:80", "[::1]"] {
            assert_eq!(ClientAddress::parse(text), None, "{text}");
        }
        assert!(ClientAddress::parse(" 127.0.0.1 ").unwrap().is_loopback());
        assert!(ClientAddress::parse("::1").unwrap().is_loopback());
        assert!(ClientAddress::LOOPBACK.is_loopback());
    }
}
