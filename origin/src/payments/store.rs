//! SQL of webhooks: recorded once, then looked at until they had their effect.

use sqlx::{PgPool, Row};

use super::provider::IntentId;

/// Longer than an order's drive: whoever died with a webhook in hand is followed after this.
const LEASE: chrono::Duration = chrono::Duration::seconds(60);
/// Rows are kept for at least seven days after they were handled; the provider retries for three.
const KEPT: chrono::Duration = chrono::Duration::days(8);

/// A webhook as recorded.
#[derive(Clone, Debug)]
pub struct Webhook<'w> {
    /// Which provider sent it.
    pub provider: &'w str,
    /// The provider's id of the event.
    pub webhook_id: &'w str,
    /// What kind of event.
    pub kind: &'w str,
    /// The intent it is about, if any.
    pub intent: Option<&'w IntentId>,
}

/// A webhook to be looked at.
#[derive(Clone, Debug)]
pub struct DueWebhook {
    /// Which provider sent it.
    pub provider: String,
    /// The provider's id of the event.
    pub webhook_id: String,
    /// The intent it is about.
    pub intent: Option<String>,
}

/// Records a webhook with its job; a duplicate changes nothing. What is about no intent is done with at once.
pub async fn record(db: &PgPool, webhook: &Webhook<'_>) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO payment_webhooks (provider, webhook_id, kind, intent_id, due_at, handled_at)
         VALUES ($1, $2, $3, $4, CASE WHEN $4 IS NULL THEN NULL ELSE clock_timestamp() END,
                 CASE WHEN $4 IS NULL THEN clock_timestamp() END)
         ON CONFLICT (provider, webhook_id) DO NOTHING",
    )
    .bind(webhook.provider)
    .bind(webhook.webhook_id)
    .bind(webhook.kind)
    .bind(webhook.intent.map(IntentId::as_str))
    .execute(db)
    .await?;
    Ok(())
}

/// Leases webhooks that are due. Materialized, so that no plan leases more than `limit`.
pub async fn lease_due(db: &PgPool, token: &str, limit: i64) -> Result<Vec<DueWebhook>, sqlx::Error> {
    let rows = sqlx::query(
        "WITH due AS MATERIALIZED (SELECT provider, webhook_id FROM payment_webhooks
                                   WHERE due_at <= clock_timestamp() ORDER BY due_at LIMIT $3
                                   FOR UPDATE SKIP LOCKED)
         UPDATE payment_webhooks w SET lease_token = $1, due_at = clock_timestamp() + $2
         FROM due WHERE w.provider = due.provider AND w.webhook_id = due.webhook_id
         RETURNING w.provider, w.webhook_id, w.intent_id",
    )
    .bind(token)
    .bind(LEASE)
    .bind(limit)
    .fetch_all(db)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(DueWebhook {
                provider: row.try_get("provider")?,
                webhook_id: row.try_get("webhook_id")?,
                intent: row.try_get("intent_id")?,
            })
        })
        .collect()
}

/// The webhook had its effect.
pub async fn finish(db: &PgPool, webhook: &DueWebhook, token: &str) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE payment_webhooks SET handled_at = clock_timestamp(), due_at = NULL, lease_token = NULL
         WHERE provider = $1 AND webhook_id = $2 AND lease_token = $3",
    )
    .bind(&webhook.provider)
    .bind(&webhook.webhook_id)
    .bind(token)
    .execute(db)
    .await?;
    Ok(())
}

/// Its order is being worked on: look again after `pause`.
pub async fn postpone(
    db: &PgPool,
    webhook: &DueWebhook,
    token: &str,
    pause: chrono::Duration,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE payment_webhooks SET due_at = clock_timestamp() + $4, lease_token = NULL
         WHERE provider = $1 AND webhook_id = $2 AND lease_token = $3",
    )
    .bind(&webhook.provider)
    .bind(&webhook.webhook_id)
    .bind(token)
    .bind(pause)
    .execute(db)
    .await?;
    Ok(())
}

/// Forgets webhooks handled long ago. Answers how many.
pub async fn forget_old(db: &PgPool) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query("DELETE FROM payment_webhooks WHERE handled_at < clock_timestamp() - $1")
        .bind(KEPT)
        .execute(db)
        .await?;
    Ok(forgotten.rows_affected())
}
