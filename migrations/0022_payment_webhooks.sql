-- Webhooks as received, deduplicated by the provider's event id and kept at least seven days: providers retry for
-- three. `due_at` is the job of looking at the object again; none once that had its effect.
CREATE TABLE payment_webhooks (
    provider    text NOT NULL,
    webhook_id  text NOT NULL,
    kind        text NOT NULL,
    intent_id   text,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    handled_at  timestamptz,
    due_at      timestamptz,
    lease_token text,
    PRIMARY KEY (provider, webhook_id),
    CHECK ((due_at IS NULL) = (handled_at IS NOT NULL))
);
CREATE INDEX payment_webhooks_due ON payment_webhooks (due_at) WHERE due_at IS NOT NULL;
