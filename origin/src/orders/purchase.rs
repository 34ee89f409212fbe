//! Beginning a purchase, or finding the one that was begun, and waiting a while for what comes of it.

use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::{
    drive,
    order::{Order, OrderState},
    records::{self, PurchaseKey},
    store::{self, Lease},
};
use crate::{
    AppState, db,
    events::Event,
    holds::{Hold, HoldState, store as claims},
    ids::{EventId, HoldId, OrderId},
    payments::Money,
    problem::{Kind, Problem},
    seat_map::find_event,
};

/// A purchase is answered within this, with its outcome or with 202.
const INLINE_LIMIT: Duration = Duration::from_secs(10);
/// Pause between looks at an order that another request of the buyer drives.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// A purchase that meets another on its hold looks again; it can lose such a race once for each that fails.
const ATTEMPTS: u32 = 3;
/// Seats of a failed order that are still claimed come back for at least this long.
const RETURNED_HOLD_SECS: u32 = 60;

/// A request to buy what a hold keeps.
#[derive(Clone, Debug)]
pub(super) struct Purchase {
    pub(super) event: EventId,
    pub(super) hold: HoldId,
    pub(super) identity: String,
    /// The session of the request.
    pub(super) sid: String,
    pub(super) payment_method: String,
    pub(super) key: PurchaseKey,
}

/// The order a request ended up with, as it is now.
#[derive(Debug)]
pub(super) struct Purchased {
    pub(super) order: Order,
    /// The same request was answered before.
    pub(super) replayed: bool,
}

/// Buys.
pub(super) async fn purchase(state: &AppState, purchase: &Purchase) -> Result<Purchased, Problem> {
    for _ in 0..ATTEMPTS {
        if let Some(replay) = replay(state, purchase).await? {
            return Ok(Purchased { order: replay, replayed: true });
        }
        if let Some(active) = store::find_active(&state.db, &purchase.hold).await? {
            return attach(state, purchase, active).await;
        }
        let Some(hold) = payable_hold(state, purchase).await? else { continue };
        let event = find_event(state, purchase.event.as_str()).await?;
        event.event.check_on_sale(state.clock.now())?;
        let seat_ids = hold.seats.iter().map(|seat| event.plan.seat_id(seat.index)).collect();
        let order = new_order(state, purchase, &hold, &event.event, seat_ids)?;
        let lease = Lease::fresh().map_err(|error| Problem::internal(&error))?;
        if let Some(order) = place_and_drive(state, purchase, order, hold, lease).await? {
            return Ok(Purchased { order, replayed: false });
        }
    }
    Err(Problem::new(Kind::Overloaded)
        .detail("the hold is being purchased by another request")
        .retry_after(1))
}

/// The order of an earlier request with this key.
async fn replay(state: &AppState, purchase: &Purchase) -> Result<Option<Order>, Problem> {
    let Some((fingerprint, order)) =
        records::find_key(&state.db, &purchase.identity, &purchase.key.key).await?
    else {
        return Ok(None);
    };
    if fingerprint != purchase.key.fingerprint {
        return Err(Kind::IdempotencyKeyReused.into());
    }
    match store::load(&state.db, &order).await? {
        Some((order, leased)) if leased && order.state.is_open() => {
            Err(Problem::new(Kind::IdempotencyInProgress).retry_after(1))
        }
        Some((order, _)) => Ok(Some(order)),
        None => Ok(None),
    }
}

/// Another request of this buyer has an order on the hold: this one is answered with it.
async fn attach(state: &AppState, purchase: &Purchase, active: Order) -> Result<Purchased, Problem> {
    if active.identity != purchase.identity || active.event != purchase.event {
        return Err(Kind::NotFound.into());
    }
    let (identity, key, id) = (purchase.identity.clone(), purchase.key.clone(), active.order_id.clone());
    let attached = db::transact("attach_key", &state.db, move |tx| {
        let (identity, key, id) = (identity.clone(), key.clone(), id.clone());
        Box::pin(async move { records::insert_key(tx, &identity, &key, &id).await })
    })
    .await;
    match attached {
        Ok(()) => {}
        // The very same request twice at once: the other one has it.
        Err(error) if violates(&error, "purchase_keys_pkey") => {
            return Err(Problem::new(Kind::IdempotencyInProgress).retry_after(1));
        }
        Err(error) => return Err(error.into()),
    }
    let order = wait_for_outcome(state, active).await?;
    Ok(Purchased { order, replayed: false })
}

async fn wait_for_outcome(state: &AppState, mut order: Order) -> Result<Order, Problem> {
    let deadline = tokio::time::Instant::now() + INLINE_LIMIT;
    while order.state.is_open() && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(LOOK_PAUSE).await;
        let (now, _) = store::load(&state.db, &order.order_id).await?.ok_or(Kind::NotFound)?;
        order = now;
    }
    Ok(order)
}

/// The hold, if it is the buyer's and can be paid now; none if an order has it that was placed only after we looked
/// for one.
async fn payable_hold(state: &AppState, purchase: &Purchase) -> Result<Option<Hold>, Problem> {
    let load = || state.holds.load_hold(&purchase.event, &purchase.hold);
    let Some(mut hold) = load().await? else {
        let known =
            store::was_held_by(&state.db, &purchase.event, &purchase.hold, &purchase.identity).await?;
        return Err(if known { Kind::HoldExpired } else { Kind::NotFound }.into());
    };
    if hold.identity != purchase.identity {
        return Err(Kind::NotFound.into());
    }
    if let HoldState::Claimed(order) | HoldState::Sold(order) = &hold.state
        && let Some((found, _)) = store::load(&state.db, order).await?
        && !found.state.has_failed()
    {
        return Ok(None);
    }
    if let HoldState::Claimed(order) = &hold.state {
        // Of a failed order, whose seats are about to be given back: do it now.
        state.holds.unclaim(&purchase.event, &purchase.hold, order, RETURNED_HOLD_SECS).await?;
        hold = load().await?.ok_or(Kind::HoldExpired)?;
    }
    match hold.state {
        HoldState::Live => Ok(Some(hold)),
        HoldState::Claimed(_) => Err(Kind::HoldInPurchase.into()),
        HoldState::Sold(_) | HoldState::Released | HoldState::Expired => Err(Kind::HoldExpired.into()),
    }
}

fn new_order(
    state: &AppState,
    purchase: &Purchase,
    hold: &Hold,
    event: &Event,
    seat_ids: Vec<String>,
) -> Result<Order, Problem> {
    if hold.total <= 0 {
        return Err(Problem::new(Kind::NotSupported).detail("seats without a price are not sold yet"));
    }
    let currency = event.currency.parse().map_err(|error| Problem::internal(&error))?;
    Ok(Order {
        order_id: OrderId::fresh().map_err(|error| Problem::internal(&error))?,
        event: purchase.event.clone(),
        hold: purchase.hold.clone(),
        identity: purchase.identity.clone(),
        sid: Some(purchase.sid.clone()),
        seats: hold.seats.clone(),
        seat_ids,
        total: Money { minor: hold.total, currency },
        payment_method: purchase.payment_method.clone(),
        client_secret: None,
        instrument: None,
        claim_id: None,
        state: OrderState::Placed,
        tries: 0,
        created_at: state.clock.now(),
    })
}

/// Makes order, key and claim durable together; false if another request was first on the hold or with the key.
async fn place(
    state: &AppState,
    key: &PurchaseKey,
    order: &Order,
    hold: &Hold,
    lease: &Lease,
) -> Result<bool, Problem> {
    let (order, hold, key, lease) = (order.clone(), hold.clone(), key.clone(), lease.clone());
    let placed = db::transact("place_order", &state.db, move |tx| {
        let (order, hold, key, lease) = (order.clone(), hold.clone(), key.clone(), lease.clone());
        Box::pin(async move {
            store::insert(tx, &order, &lease).await?;
            records::insert_key(tx, &order.identity, &key, &order.order_id).await?;
            claims::insert_claim(tx, &order.order_id, &hold).await
        })
    })
    .await;
    match placed {
        Ok(()) => Ok(true),
        Err(error)
            if violates(&error, "orders_one_active_per_hold") || violates(&error, "purchase_keys_pkey") =>
        {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

fn violates(error: &sqlx::Error, constraint: &str) -> bool {
    matches!(error, sqlx::Error::Database(e) if e.constraint() == Some(constraint))
}

/// Places the order and drives it in a task of its own, since a purchase runs on though its buyer hangs up, and waits
/// for an outcome; none if it was not placed.
async fn place_and_drive(
    state: &AppState,
    purchase: &Purchase,
    order: Order,
    hold: Hold,
    lease: Lease,
) -> Result<Option<Order>, Problem> {
    let id = order.order_id.clone();
    let (sender, mut seen) = watch::channel(order.state.clone());
    let (told, placed) = oneshot::channel();
    let (worker, key) = (state.clone(), purchase.key.clone());
    tokio::spawn(async move {
        let placed = place(&worker, &key, &order, &hold, &lease).await;
        let goes_on = matches!(placed, Ok(true));
        // Nobody listens once the buyer has hung up.
        let _ = told.send(placed);
        if goes_on {
            drive(&worker, order, &lease, &sender).await;
        }
    });
    if !placed.await.map_err(|error| Problem::internal(&error))?? {
        return Ok(None);
    }
    let outcome = seen.wait_for(|state| !state.is_open());
    // Over time, or the worker gave the order up to the driver: the row says where it stands.
    let _ = tokio::time::timeout(INLINE_LIMIT, outcome).await;
    let (order, _) = store::load(&state.db, &id).await?.ok_or(Kind::NotFound)?;
    Ok(Some(order))
}
