//! Integers of any length as plain data: their bytes.

use num_bigint::BigInt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(value: &BigInt, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_signed_bytes_le().serialize(serializer)
}

pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<BigInt, D::Error> {
    Ok(BigInt::from_signed_bytes_le(&Vec::deserialize(deserializer)?))
}
