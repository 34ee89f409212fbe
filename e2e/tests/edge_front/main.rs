//! The edge's front through workerd, from outside: status codes, headers and the faults that users of other waiting
//! rooms reported. The booking service behind it is a mirror that tells what reached it.
//!
//! One stack serves all groups, in order; each group makes the events it needs.
#![expect(
    clippy::unwrap_used,
    reason = "a test's own steps must not fail; where they do, the line says which"
)]

mod gate;
mod joining;
mod letting_in;
mod mirror;
mod operators;
mod pages;
mod reads;
mod restart;
mod visitor;

use e2e::stack::{Options, Stack};

use mirror::Mirror;

/// What every group works with.
pub(crate) struct Place {
    pub(crate) stack: Stack,
    pub(crate) edge: String,
    pub(crate) admin_token: String,
    pub(crate) mirror: Mirror,
}

#[tokio::test]
async fn the_edge_keeps_its_contract() {
    let options = Options { sale: None, ..Options::for_test("edge-front") };
    let stack = Stack::up(options).await.unwrap();
    let info = stack.info();
    let place =
        Place { edge: info.edge, admin_token: info.admin_token, stack, mirror: Mirror::start().await };
    pages::group(&place).await;
    operators::group(&place).await;
    joining::group(&place).await;
    letting_in::group(&place).await;
    gate::group(&place).await;
    reads::group(&place).await;
    restart::group(&place).await;
    place.stack.down().await.unwrap();
}
