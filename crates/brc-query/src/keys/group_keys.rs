//! The keys of all groups that were found: a set of keys of any type, or encoded keys of a partition.

use super::encoding::EncodedKeys;
use super::key_set::KeySet;
use brc_core::{Dictionary, Value};
use serde::{Deserialize, Serialize};

/// The keys of all groups.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum GroupKeys {
    Set(KeySet),
    /// Those of a partition. They are read where they are.
    #[serde(skip)]
    Encoded(EncodedKeys),
}

impl GroupKeys {
    /// How many keys a group has.
    pub(crate) fn keys(&self) -> usize {
        match self {
            Self::Set(keys) => keys.types().len(),
            Self::Encoded(keys) => keys.keys(),
        }
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Set(keys) => keys.len(),
            Self::Encoded(keys) => keys.len(),
        }
    }

    /// The value that a group has for one of the keys; `None` if it is null. Strings may be written to `text`.
    pub(crate) fn value<'a>(&'a self, key: usize, group: usize, text: &'a mut Vec<u8>) -> Option<Value<'a>> {
        match self {
            Self::Set(keys) => keys.value(key, group),
            Self::Encoded(keys) => keys.value(key, group, text),
        }
    }

    /// Whether a group has a null for one of the keys.
    pub(crate) fn is_null(&self, key: usize, group: usize) -> bool {
        match self {
            Self::Set(keys) => keys.value(key, group).is_none(),
            Self::Encoded(keys) => keys.is_null(key, group),
        }
    }

    /// The strings of a key and which of them a group has, if any, where groups have codes of them.
    pub(crate) fn codes(&self, key: usize) -> Option<(&Dictionary, impl Fn(usize) -> Option<u32>)> {
        match self {
            Self::Set(keys) => keys.codes(key),
            Self::Encoded(_) => None,
        }
    }

    /// These groups only, in their order.
    pub(crate) fn pick(&self, groups: &[u32]) -> Self {
        match self {
            Self::Set(keys) => Self::Set(keys.pick(groups)),
            Self::Encoded(keys) => Self::Encoded(keys.pick(groups)),
        }
    }
}
