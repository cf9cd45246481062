//! Integers of any length as plain data: their bytes.

use num_bigint::BigInt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(value: &BigInt, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_signed_bytes_le().serialize(serializer)
}

pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<BigInt, D::Error> {
    Ok(BigInt::from_signed_bytes_le(&Vec::deserialize(deserializer)?))
}

/// The same for many of them.
pub(super) mod list {
    use num_bigint::BigInt;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(values: &[BigInt], serializer: S) -> Result<S::Ok, S::Error> {
        values.iter().map(BigInt::to_signed_bytes_le).collect::<Vec<_>>().serialize(serializer)
    }

    pub(in super::super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Vec<BigInt>, D::Error> {
        let values = Vec::<Vec<u8>>::deserialize(deserializer)?;
        Ok(values.iter().map(|bytes| BigInt::from_signed_bytes_le(bytes)).collect())
    }
}
