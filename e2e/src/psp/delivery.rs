//! Webhook delivery: signs, sends, retries, and goes wrong as ordered.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::clock;
use super::webhook::{self, MAX_ATTEMPTS};

/// How long the receiver may take; real providers give up after ten to thirty seconds.
const RECEIVER_TIMEOUT: Duration = Duration::from_secs(10);

/// Where webhooks go.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The URL.
    pub url: String,
    /// The signing secret.
    pub secret: String,
}

/// Sends events to the receiver, if there is one.
#[derive(Clone, Debug)]
pub struct Delivery {
    receiver: Option<Arc<Receiver>>,
    client: reqwest::Client,
}

impl Delivery {
    /// A delivery to `receiver`.
    ///
    /// # Errors
    /// The HTTP client cannot be built.
    pub fn new(receiver: Option<Receiver>) -> reqwest::Result<Self> {
        let client = reqwest::Client::builder().timeout(RECEIVER_TIMEOUT).no_proxy().build()?;
        Ok(Self { receiver: receiver.map(Arc::new), client })
    }

    /// Sends one copy after a delay and retries until it is acknowledged or the attempts are used up.
    pub fn send(&self, body: Bytes, delay: Duration) {
        let Some(receiver) = self.receiver.clone() else { return };
        let client = self.client.clone();
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            for attempt in 0..MAX_ATTEMPTS {
                // Signed anew each time: receivers refuse old timestamps.
                let signature = webhook::sign(&receiver.secret, clock::now(), &body);
                let sent = client
                    .post(&receiver.url)
                    .header("content-type", "application/json")
                    .header("stripe-signature", signature)
                    .body(body.clone())
                    .send()
                    .await;
                match sent {
                    Ok(answer) if answer.status().is_success() => return,
                    Ok(answer) => tracing::debug!(status = %answer.status(), attempt, "webhook refused"),
                    Err(error) => tracing::debug!(%error, attempt, "webhook not delivered"),
                }
                tokio::time::sleep(Duration::from_secs(1 << attempt)).await;
            }
            tracing::warn!(url = receiver.url, "webhook given up");
        });
    }
}
