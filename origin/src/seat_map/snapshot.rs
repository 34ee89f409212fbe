//! One moment of a map, with its encodings made once.

use std::{io::Write, sync::OnceLock, time::Instant};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use serde_json::json;

use super::{
    packed::{self, Planes},
    version,
};
use crate::{holds::engine::MapRead, seating::Plan};

/// What the map says of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatState {
    /// Free.
    Available,
    /// Somebody's for a while.
    Held,
    /// Sold.
    Sold,
    /// Kept back by the operator.
    Blocked,
}

impl SeatState {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Held => "held",
            Self::Sold => "sold",
            Self::Blocked => "blocked",
        }
    }
}

/// Seats by state; they add up to the capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Free.
    pub available: u32,
    /// Held.
    pub held: u32,
    /// Sold.
    pub sold: u32,
    /// Blocked.
    pub blocked: u32,
}

/// Bytes as they are and as gzip.
#[derive(Clone, Debug)]
pub struct Body {
    /// As they are.
    pub plain: Bytes,
    /// Compressed.
    pub gzip: Bytes,
}

impl Body {
    /// Compresses once, at a level that suits bytes made twice a second.
    pub fn new(plain: Vec<u8>) -> Self {
        let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4 + 64), Compression::new(5));
        // Writing to memory does not fail; if it did, no gzip at all means that the plain bytes are served.
        let gzip = encoder.write_all(&plain).and_then(|()| encoder.finish()).unwrap_or_default();
        Self { plain: plain.into(), gzip: gzip.into() }
    }
}

/// The map at one version.
#[derive(Debug)]
pub struct Snapshot {
    version: u64,
    seats: u32,
    available: Vec<u8>,
    sold: Vec<u8>,
    blocked: Vec<u8>,
    counts: Counts,
    read_at: Instant,
    one_plane: OnceLock<Body>,
    two_planes: OnceLock<Body>,
    json: OnceLock<Body>,
}

impl Snapshot {
    /// The snapshot of a read of a map with `seats` seats.
    pub fn new(read: &MapRead, seats: u32, read_at: Instant) -> Self {
        let (available, sold) = (packed::count(&read.available, seats), packed::count(&read.sold, seats));
        let blocked = packed::count(&read.blocked, seats);
        let held = seats.saturating_sub(available).saturating_sub(sold).saturating_sub(blocked);
        Self {
            version: version::join(read.generation, read.sequence),
            seats,
            available: read.available.clone(),
            sold: read.sold.clone(),
            blocked: read.blocked.clone(),
            counts: Counts { available, held, sold, blocked },
            read_at,
            one_plane: OnceLock::new(),
            two_planes: OnceLock::new(),
            json: OnceLock::new(),
        }
    }

    /// Its version.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// When it was read.
    pub fn read_at(&self) -> Instant {
        self.read_at
    }

    /// Seats by state.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The state of a seat.
    pub fn state(&self, index: u32) -> SeatState {
        if packed::bit(&self.available, index) {
            SeatState::Available
        } else if packed::bit(&self.sold, index) {
            SeatState::Sold
        } else if packed::bit(&self.blocked, index) {
            SeatState::Blocked
        } else {
            SeatState::Held
        }
    }

    /// The packed bytes.
    pub fn packed(&self, planes: Planes) -> &Body {
        match planes {
            Planes::One => self
                .one_plane
                .get_or_init(|| Body::new(packed::encode(self.version, self.seats, &self.available, None))),
            Planes::Two => self.two_planes.get_or_init(|| {
                let pairs = self.sold.iter().zip(&self.blocked);
                let taken: Vec<u8> = pairs.map(|(sold, blocked)| sold | blocked).collect();
                Body::new(packed::encode(self.version, self.seats, &self.available, Some(&taken)))
            }),
        }
    }

    /// The map as JSON.
    pub fn json(&self, plan: &Plan) -> &Body {
        self.json.get_or_init(|| {
            let seats: Vec<_> = (0u32..)
                .zip(plan.seats())
                .map(|(index, seat)| {
                    let status = self.state(index).as_str();
                    json!({"seat_id": seat.seat_id, "status": status, "price": plan.price(index)})
                })
                .collect();
            // Areas are not sold in this release: all of one is available.
            let areas: Vec<_> =
                plan.areas().iter().map(|a| json!({"area": a.area, "available": a.capacity})).collect();
            Body::new(
                json!({"version": self.version, "seats": seats, "areas": areas}).to_string().into_bytes(),
            )
        })
    }
}
