//! Key sets as plain data, which can leave the process.

use super::KeySet;
use crate::keys::strings::Strings;
use brc_core::LogicalType;
use serde::{Deserialize, Serialize};

/// The tuples as plain data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyParts {
    pub(crate) types: Vec<(LogicalType, bool)>,
    /// The strings of keys that are such.
    pub(crate) names: Vec<Option<Vec<Vec<u8>>>>,
    pub(crate) tuples: Vec<u64>,
}

impl From<KeySet> for KeyParts {
    fn from(set: KeySet) -> Self {
        let names = |strings: &Option<Strings>| {
            strings.as_ref().map(|strings| strings.names.iter().map(<[u8]>::to_vec).collect())
        };
        Self { names: set.strings.iter().map(names).collect(), types: set.types, tuples: set.tuples }
    }
}

impl TryFrom<KeyParts> for KeySet {
    type Error = &'static str;

    fn try_from(KeyParts { types, names, tuples }: KeyParts) -> Result<Self, Self::Error> {
        if types.is_empty() {
            return Err("there is no key");
        }
        let mut set = Self::new(&types);
        let width = set.layout.width;
        if tuples.len() % width != 0 || names.len() != types.len() {
            return Err("the keys are not as many as the groups");
        }
        for ((strings, names), key) in set.strings.iter_mut().zip(names).zip(&set.layout.keys) {
            let known = names.as_ref().map_or(0, Vec::len) as u128;
            let is_known = |tuple: &[u64]| key.is_null(tuple) || key.bits(tuple) < known;
            match (strings, names) {
                (None, None) => {}
                (Some(_), Some(_)) if !tuples.chunks_exact(width).all(is_known) => return Err("a code has no name"),
                (Some(strings), Some(names)) => *strings = Strings::of(names.into_iter().collect()),
                _ => return Err("the keys are of other types"),
            }
        }
        set.tuples = tuples;
        Ok(set)
    }
}
