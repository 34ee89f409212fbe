//! Generations: what happens when Redis is new, was emptied, or was replaced by another server.
//!
//! Postgres records an event's generation and the `run_id` of the Redis it is on. Whoever finds that Redis does not
//! match raises the generation in Postgres (a lease keeps others off), fills Redis from Postgres under names of the
//! new generation, and opens it. Until then every script of that event answers "rebuilding". Live holds evaporate;
//! sold and blocked seats, bought counts and the claims of unfinished orders come back.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use redis::Pipeline;

use super::{
    Engine, Ready,
    answers::{csv, number},
    keys::Keys,
};
use crate::{
    holds::{
        EngineError, store,
        store::{OpenClaim, SeatStatus, Truth},
    },
    ids::EventId,
};

/// Commands in one pipeline while filling: 500 of about 100 B each.
const FILL_CHUNK: usize = 500;
/// Others of this process wait so long for the one that opens the generation.
const OPEN_TIMEOUT: Duration = Duration::from_secs(2);

impl Engine {
    /// Makes sure the event can be sold from: at creation, at start, or before its first hold.
    pub async fn prepare(&self, event: &EventId) -> Result<(), EngineError> {
        self.keys(event).await.map(drop)
    }

    pub(super) async fn open_generation(
        &self,
        event: &EventId,
        run_id: &Arc<str>,
    ) -> Result<Ready, EngineError> {
        let lock = self.opening_of(event);
        let Ok(_guard) = tokio::time::timeout(OPEN_TIMEOUT, lock.lock()).await else {
            return Err(EngineError::Rebuilding);
        };
        if let Some(ready) = self.known(event)
            && ready.run_id == *run_id
        {
            return Ok(ready);
        }
        let recorded = store::generation(&self.0.db, event).await?;
        let found = self.redis_generation(event, run_id).await?;
        if let Some(row) = &recorded
            && row.run_id == **run_id
            && found == Some((row.generation, true))
        {
            if !row.ready {
                store::mark_ready(&self.0.db, event, row.generation).await?;
            }
            return Ok(Ready { generation: row.generation, run_id: Arc::clone(run_id) });
        }
        // A Postgres restored from an older copy must not lead to a generation that was used before.
        let at_least = found.map_or(0, |(generation, _)| generation);
        let Some(generation) =
            store::raise_generation(&self.0.db, event, run_id, recorded.as_ref(), at_least).await?
        else {
            return Err(EngineError::Rebuilding);
        };
        tracing::info!(%event, generation, "filling the hold store from the ledger");
        if let Err(error) = self.fill(event, run_id, generation).await {
            if let Err(lease) = store::give_up_rebuild(&self.0.db, event, generation).await {
                tracing::warn!(%event, error = %lease, "the lease of a failed rebuild runs out by itself");
            }
            return Err(error);
        }
        store::mark_ready(&self.0.db, event, generation).await?;
        self.tidy(event, at_least);
        Ok(Ready { generation, run_id: Arc::clone(run_id) })
    }

    async fn redis_generation(
        &self,
        event: &EventId,
        run_id: &str,
    ) -> Result<Option<(u64, bool)>, EngineError> {
        let meta = Keys::new(event, 0).meta();
        let (generation, ready): (Option<String>, Option<String>) = self
            .link()?
            .call_on(run_id, |mut c| async move {
                redis::cmd("HMGET").arg(meta).arg("gen").arg("ready").query_async(&mut c).await
            })
            .await?;
        generation.map(|g| Ok((number(&g)?, ready.as_deref() == Some("1")))).transpose()
    }

    async fn fill(&self, event: &EventId, run_id: &str, generation: u64) -> Result<(), EngineError> {
        let keys = Keys::new(event, generation);
        let scripts = &self.0.scripts;
        let mut begin = scripts.begin.prepare_invoke();
        let begun = self.alone(run_id, begin.key(keys.meta()).arg(generation)).await?;
        if begun != "begun" {
            return Err(EngineError::Rebuilding);
        }
        let truth = store::read_truth(&self.0.db, event).await?;
        let commands = commands(&keys, &truth);
        for chunk in commands.chunks(FILL_CHUNK) {
            let mut pipeline = Pipeline::new();
            for command in chunk {
                pipeline.add_command(command.clone()).ignore();
            }
            self.link()?
                .call_on(run_id, |mut c| async move { pipeline.query_async::<()>(&mut c).await })
                .await?;
        }
        let mut finish = scripts.finish.prepare_invoke();
        let finished = self.alone(run_id, finish.key(keys.meta()).key(keys.log()).arg(generation)).await?;
        if finished == "finished" { Ok(()) } else { Err(EngineError::Rebuilding) }
    }

    async fn alone(&self, run_id: &str, call: &redis::ScriptInvocation<'_>) -> Result<String, EngineError> {
        let answer: Vec<String> =
            self.link()?.call_on(run_id, |mut c| async move { call.invoke_async(&mut c).await }).await?;
        answer.into_iter().next().ok_or_else(|| EngineError::Impossible("empty answer".into()))
    }

    /// Removes what the generation before left behind, in the background and at leisure: nothing reads it.
    fn tidy(&self, event: &EventId, generation: u64) {
        if generation == 0 {
            return;
        }
        let (engine, pattern) = (self.clone(), Keys::pattern_of(event, generation));
        tokio::spawn(async move {
            let mut cursor = 0u64;
            loop {
                let step = engine.tidy_step(&pattern, cursor).await;
                match step {
                    Ok(0) => break,
                    Ok(next) => cursor = next,
                    Err(error) => {
                        tracing::warn!(%error, "an old generation was not tidied");
                        break;
                    }
                }
            }
        });
    }

    async fn tidy_step(&self, pattern: &str, cursor: u64) -> Result<u64, EngineError> {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(1000);
        let (next, found): (u64, Vec<String>) =
            self.link()?.call(|mut c| async move { scan.query_async(&mut c).await }).await?;
        if !found.is_empty() {
            let mut unlink = redis::cmd("UNLINK");
            unlink.arg(found);
            self.link()?.call(|mut c| async move { unlink.query_async::<()>(&mut c).await }).await?;
        }
        Ok(next)
    }
}

/// Everything a generation starts with, as commands.
fn commands(keys: &Keys, truth: &Truth) -> Vec<redis::Cmd> {
    let mut commands = Vec::new();
    let bytes = (truth.seats as usize).div_ceil(8);
    let (mut available, mut sold, mut blocked) = (vec![0u8; bytes], vec![0u8; bytes], vec![0u8; bytes]);
    for index in 0..truth.seats {
        set(&mut available, index, true);
    }
    for seat in &truth.taken {
        let letter = match seat.status {
            SeatStatus::Sold => 's',
            SeatStatus::Blocked => 'b',
            SeatStatus::Available => continue,
        };
        set(&mut available, seat.index, false);
        set(if letter == 's' { &mut sold } else { &mut blocked }, seat.index, true);
        commands.push(command("SET", &[&keys.seat(seat.index), &format!("{letter}:{}", seat.version)]));
    }
    for seat in &truth.taken {
        let (index, version) = (seat.index.to_string(), seat.version.to_string());
        commands.push(command("HSET", &[&keys.versions(), &index, &version]));
    }
    for (owner, bought) in &truth.bought {
        commands.push(command("HSET", &[&keys.identity(owner), "b", &bought.to_string()]));
    }
    let mut claimed: BTreeMap<u32, &OpenClaim> = BTreeMap::new();
    for claim in &truth.claims {
        for seat in &claim.seats {
            claimed.insert(seat.index, claim);
        }
        commands.extend(claim_commands(keys, claim));
    }
    for (index, claim) in claimed {
        // A seat that was sold meanwhile stays sold.
        if !truth.taken.iter().any(|seat| seat.index == index && seat.status != SeatStatus::Available) {
            set(&mut available, index, false);
            commands.push(command("SET", &[&keys.seat(index), &format!("o:{}", claim.order)]));
        }
    }
    for (key, map) in [(keys.available(), available), (keys.sold(), sold), (keys.blocked(), blocked)] {
        let mut command = redis::cmd("SET");
        command.arg(key).arg(map);
        commands.push(command);
    }
    commands
}

fn claim_commands(keys: &Keys, claim: &OpenClaim) -> [redis::Cmd; 3] {
    let seats = csv(claim.seats.iter().map(|seat| seat.index));
    let prices = csv(claim.seats.iter().map(|seat| seat.price));
    let total: i64 = claim.seats.iter().map(|seat| seat.price).sum();
    let millis = |at: chrono::DateTime<chrono::Utc>| at.timestamp_millis().to_string();
    let (made, expires, max) =
        (millis(claim.created_at), millis(claim.expires_at), millis(claim.max_expires_at));
    // The token is new: the holds that knew the old one are gone with the store that held them.
    let token = claim.order.as_str();
    let hold = command(
        "HSET",
        &[
            &keys.hold(&claim.hold),
            "by",
            &claim.identity,
            "tok",
            token,
            "seats",
            &seats,
            "prices",
            &prices,
            "tot",
            &total.to_string(),
            "cur",
            &claim.currency,
            "made",
            &made,
            "exp",
            &expires,
            "max",
            &max,
            "ext",
            "1",
            "st",
            "claimed",
            "ord",
            claim.order.as_str(),
        ],
    );
    let entry = format!("0|{max}|{made}|1|{token}|{seats}");
    let identity = command("HSET", &[&keys.identity(&claim.identity), &format!("h:{}", claim.hold), &entry]);
    let value = format!("{made} {} {} {seats}", claim.hold, claim.identity);
    [hold, identity, command("HSET", &[&keys.claims(), claim.order.as_str(), &value])]
}

fn command(name: &str, args: &[&str]) -> redis::Cmd {
    let mut command = redis::cmd(name);
    for arg in args {
        command.arg(*arg);
    }
    command
}

fn set(map: &mut [u8], index: u32, on: bool) {
    if let Some(byte) = map.get_mut(index as usize / 8) {
        let mask = 1 << (index % 8);
        if on { *byte |= mask } else { *byte &= !mask }
    }
}
