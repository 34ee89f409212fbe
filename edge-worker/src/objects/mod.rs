//! The Durable Objects and the typed calls to them.
//!
//! An object file is a shell: decode the command, look rows up, let `edge-core` decide, write, reply. Rules live in
//! `edge-core`. Nothing is awaited between deciding and writing, so no other command sees a decision that is not
//! stored; the runtime holds back every answer until what was written before it is on disk.

mod client;
mod lane;
mod lane_joins;
mod lane_store;
mod pressure;
mod room;
mod room_documents;
mod room_store;
mod room_tick;
mod storage;

pub(crate) use client::{CallError, LaneClient, RoomClient};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edge_core::wire::{Document, Instant, entity_tag};
use serde::Serialize;
use worker::Response;

/// An object's answer to a command.
fn reply(answer: &impl Serialize) -> worker::Result<Response> {
    Response::ok(serde_json::to_string(answer)?)
}

/// 32 random bytes.
fn fresh_bytes() -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}

/// A fresh id nobody can guess: 16 random bytes.
fn fresh_id() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok().map(|()| URL_SAFE_NO_PAD.encode(bytes))
}

/// A published document with its entity tag: of its bytes, so equal documents have equal tags.
fn document_of(body: String, generated_at: Instant) -> Document {
    let etag = entity_tag(body.as_bytes());
    Document { body, etag, generated_at }
}
