//! A bounded memory of recent things.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A map that remembers at least the last `capacity` keys touched and never holds more than twice as many.
///
/// Two generations: when the young one is full it becomes the old one, and the old one is forgotten whole. Touching a
/// key carries it over. No entry is ever walked, so remembering costs the same under a flood as without one.
#[derive(Debug)]
pub struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    capacity: usize,
}

impl<K: Eq + Hash, V> Recent<K, V> {
    /// An empty memory of `capacity` keys, at least one.
    pub fn new(capacity: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), capacity: capacity.max(1) }
    }

    /// What is remembered of `key`, which counts as touched.
    pub fn get<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if !self.young.contains_key(key) {
            let (key, value) = self.old.remove_entry(key)?;
            self.insert(key, value);
        }
        self.young.get_mut(key)
    }

    /// Remembers `value` of `key`.
    pub fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.capacity && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, value);
    }

    /// Forgets `key`.
    pub fn remove<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// What is remembered, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.young.values().chain(self.old.values())
    }

    /// Forgets the keys touched least lately, and everything if those are none.
    pub fn shed(&mut self) {
        if self.old.is_empty() {
            self.young.clear();
        }
        self.old.clear();
    }

    /// Number of keys held.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_touched_key_outlives_a_flood() {
        let mut recent = Recent::new(4);
        recent.insert(0, "mine");
        for n in 1..1000 {
            recent.insert(n, "theirs");
            if n % 3 == 0 {
                assert_eq!(recent.get(&0), Some(&mut "mine"));
            }
        }
        assert!(recent.len() <= 8);
        assert_eq!(recent.get(&1), None);
    }

    #[test]
    fn a_second_insert_replaces_wherever_the_first_is() {
        let mut recent = Recent::new(2);
        for (key, value) in [(1, 'a'), (2, 'b'), (3, 'c'), (1, 'd')] {
            recent.insert(key, value);
        }
        assert_eq!(recent.get(&1), Some(&mut 'd'));
        recent.remove(&1);
        assert_eq!(recent.get(&1), None);
        assert!(!recent.is_empty());
    }

    #[test]
    fn shedding_keeps_what_was_touched_and_ends_with_nothing() {
        let mut recent = Recent::new(2);
        for key in 0..4 {
            recent.insert(key, key);
        }
        assert_eq!(recent.values().count(), 4);
        recent.shed();
        let mut kept: Vec<i32> = recent.values().copied().collect();
        kept.sort_unstable();
        assert_eq!(kept, [2, 3]);
        recent.shed();
        assert!(recent.is_empty());
    }

    proptest! {
        #[test]
        fn bounded_and_remembers_the_last(keys in prop::collection::vec(0_u8..40, 1..200), capacity in 1_usize..10) {
            let mut recent = Recent::new(capacity);
            for (at, key) in keys.iter().enumerate() {
                recent.insert(*key, at);
                prop_assert!(recent.len() <= 2 * capacity);
                prop_assert_eq!(recent.get(key), Some(&mut { at }));
            }
        }
    }
}
