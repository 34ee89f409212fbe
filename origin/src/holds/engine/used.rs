//! How much of its limit an identity has used.

use super::{
    Engine,
    answers::{list, number},
};
use crate::{holds::EngineError, ids::EventId};

impl Engine {
    /// Seats an identity has: bought, claimed or in live holds. What a hold's limit counts.
    pub async fn used(&self, event: &EventId, identity: &str) -> Result<u32, EngineError> {
        let answer = self
            .run(event, &self.0.scripts.owned, |keys, call| {
                call.key(keys.identity(identity));
            })
            .await?;
        let texts = answer.texts()?;
        let (now, fields) = texts.split_first().ok_or_else(|| EngineError::Impossible("owned".into()))?;
        count_used(number(now)?, fields)
    }
}

/// Counts as hold.lua does: entries whose time is over do not count, those without a time do.
fn count_used(now_ms: i64, fields: &[String]) -> Result<u32, EngineError> {
    let mut used = 0u32;
    for pair in fields.chunks_exact(2) {
        if pair[0] == "b" {
            used = used.saturating_add(number(&pair[1])?);
            continue;
        }
        let parts: Vec<&str> = pair[1].split('|').collect();
        let [expires, .., seats] = parts[..] else {
            return Err(EngineError::Impossible("an identity's entry".into()));
        };
        let expires: i64 = number(expires)?;
        if expires == 0 || expires > now_ms {
            let seats = list::<u32>(seats)?.len();
            used = used.saturating_add(u32::try_from(seats).unwrap_or(u32::MAX));
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::count_used;

    #[test]
    fn what_is_used_is_bought_claimed_or_live() {
        let fields =
            ["b", "2", "h:a", "0|9|1|0|t|1,2,3", "h:b", "101|900|1|0|t|4", "h:c", "100|900|1|0|t|5,6"];
        let fields: Vec<String> = fields.map(str::to_owned).into();
        assert_eq!(count_used(100, &fields).unwrap(), 6);
        assert_eq!(count_used(100, &[]).unwrap(), 0);
        assert!(count_used(100, &["h:a".to_owned(), "0".to_owned()]).is_err());
    }
}
