//! SQL of what stands beside orders: clients' keys, support's claims, the outbox.

use sqlx::{PgConnection, PgPool, Row};

use super::order::Order;
use crate::{
    ids::{EventId, OrderId},
    payments::IntentId,
};

/// The key of a purchase.
#[derive(Clone, Debug)]
pub(crate) struct PurchaseKey {
    /// What the client sent.
    pub key: String,
    /// Hash of caller, method, path and body.
    pub fingerprint: String,
}

/// Remembers the client's key for an order.
pub(crate) async fn insert_key(
    tx: &mut PgConnection,
    identity: &str,
    key: &PurchaseKey,
    order: &OrderId,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO purchase_keys (identity, key, fingerprint, order_id) VALUES ($1, $2, $3, $4)")
        .bind(identity)
        .bind(&key.key)
        .bind(&key.fingerprint)
        .bind(order.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

/// Forgets the keys of an order that failed before it had any effect, so that the same request may be sent again.
pub(crate) async fn forget_keys(tx: &mut PgConnection, order: &OrderId) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM purchase_keys WHERE order_id = $1").bind(order.as_str()).execute(tx).await?;
    Ok(())
}

/// The fingerprint and order of a client's key.
pub(crate) async fn find_key(
    db: &PgPool,
    identity: &str,
    key: &str,
) -> Result<Option<(String, OrderId)>, sqlx::Error> {
    let row = sqlx::query("SELECT fingerprint, order_id FROM purchase_keys WHERE identity = $1 AND key = $2")
        .bind(identity)
        .bind(key)
        .fetch_optional(db)
        .await?;
    row.map(|row| {
        let order: String = row.try_get("order_id")?;
        let wrong =
            crate::db::ImpossibleRow { table: "purchase_keys", column: "order_id", id: key.to_owned() };
        Ok((row.try_get("fingerprint")?, order.parse().map_err(|_| wrong)?))
    })
    .transpose()
}

/// Opens a claim for support, or a settled one again under its new id; repeating changes nothing.
pub(crate) async fn open_support_claim(
    tx: &mut PgConnection,
    order: &Order,
    claim_id: &str,
    intent: &IntentId,
    reason: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO support_claims (claim_id, order_id, event_id, amount, currency, intent_id, reason)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (order_id) DO UPDATE
         SET claim_id = EXCLUDED.claim_id, reason = EXCLUDED.reason, status = 'open',
             created_at = clock_timestamp(), settled_at = NULL
         WHERE support_claims.status = 'settled' AND support_claims.claim_id <> EXCLUDED.claim_id",
    )
    .bind(claim_id)
    .bind(order.order_id.as_str())
    .bind(order.event.as_str())
    .bind(order.total.minor)
    .bind(order.total.currency.code())
    .bind(intent.as_str())
    .bind(reason)
    .execute(tx)
    .await?;
    Ok(())
}

/// Closes an order's claim: the provider came back and the money is settled.
pub(crate) async fn settle_support_claim(tx: &mut PgConnection, order: &OrderId) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE support_claims SET status = 'settled', settled_at = clock_timestamp()
         WHERE order_id = $1 AND status = 'open'",
    )
    .bind(order.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// Adds a row to the outbox.
pub(crate) async fn insert_outbox(
    tx: &mut PgConnection,
    event: &EventId,
    kind: &str,
    body: serde_json::Value,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO outbox (event_id, kind, body) VALUES ($1, $2, $3)")
        .bind(event.as_str())
        .bind(kind)
        .bind(body)
        .execute(tx)
        .await?;
    Ok(())
}
