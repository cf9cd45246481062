//! Which parquet columns are which columns of a table, and the other way round.

use crate::columnar::DIGITS;
use brc_compress::{Compression, Compressor};
use brc_core::DataType;
use parquet::basic::{CompressionCodec, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};
use std::sync::Arc;

/// How the values of a column lie in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// Strings with a length each.
    Bytes,
    /// Signed integers of 32 bits.
    Int32,
    /// Unsigned integers of 32 bits.
    Unsigned32,
    /// Signed integers of 64 bits.
    Int64,
    /// Unsigned integers of 64 bits.
    Unsigned64,
    /// Big-endian integers of that many bytes.
    BigEndian(usize),
    /// Big-endian integers with a length each.
    BigEndianBytes,
}

impl Stored {
    /// Whether the library orders such values as numbers are ordered.
    pub(super) fn has_signed_order(self) -> bool {
        matches!(self, Self::Int32 | Self::Int64)
    }
}

/// What a column of a file is.
///
/// # Errors
/// What it is instead of something that a table can hold.
pub(super) fn column(column: &ColumnDescriptor) -> Result<(DataType, Stored), String> {
    if column.max_rep_level() > 0 || column.path().parts().len() != 1 || column.max_def_level() > 1 {
        return Err("nested".to_owned());
    }
    let logical = column.logical_type_ref();
    let converted = column.converted_type();
    let physical = column.physical_type();
    let scale = match logical {
        Some(LogicalType::Decimal(decimal)) => Some(decimal.scale),
        None if converted == ConvertedType::DECIMAL => Some(column.type_scale()),
        _ => None,
    };
    if let Some(scale) = scale {
        let fits = u8::try_from(scale).ok().filter(|scale| *scale <= DataType::MAX_SCALE);
        let stored = match physical {
            Physical::INT32 => Some(Stored::Int32),
            Physical::INT64 => Some(Stored::Int64),
            Physical::BYTE_ARRAY => Some(Stored::BigEndianBytes),
            Physical::FIXED_LEN_BYTE_ARRAY => {
                usize::try_from(column.type_length()).ok().filter(|length| *length > 0).map(Stored::BigEndian)
            }
            _ => None,
        };
        return match (fits, stored) {
            (Some(scale), Some(stored)) => Ok((DataType::Decimal { scale }, stored)),
            _ => Err(format!("a decimal of scale {scale} as {physical}")),
        };
    }
    let integer = |stored| Ok((DataType::Decimal { scale: 0 }, stored));
    match (physical, logical, converted) {
        (
            Physical::BYTE_ARRAY,
            None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json),
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON,
        ) => Ok((DataType::String, Stored::Bytes)),
        (Physical::INT32, Some(LogicalType::Integer(int)), _) if !int.is_signed => integer(Stored::Unsigned32),
        (Physical::INT64, Some(LogicalType::Integer(int)), _) if !int.is_signed => integer(Stored::Unsigned64),
        (Physical::INT32, Some(LogicalType::Integer(_)), _) => integer(Stored::Int32),
        (Physical::INT64, Some(LogicalType::Integer(_)), _) => integer(Stored::Int64),
        (Physical::INT32, None, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32) => {
            integer(Stored::Unsigned32)
        }
        (Physical::INT64, None, ConvertedType::UINT_64) => integer(Stored::Unsigned64),
        (
            Physical::INT32,
            None,
            ConvertedType::NONE | ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32,
        ) => integer(Stored::Int32),
        (Physical::INT64, None, ConvertedType::NONE | ConvertedType::INT_64) => integer(Stored::Int64),
        (_, Some(logical), _) => Err(format!("{logical:?}")),
        (_, None, ConvertedType::NONE) => Err(physical.to_string()),
        (_, None, converted) => Err(converted.to_string()),
    }
}

/// The column of a file for one of a table; `has_digits` tells that no value has more digits than parquet's decimals.
pub(super) fn field(name: &str, data_type: DataType, has_digits: bool) -> parquet::errors::Result<TypePtr> {
    let column = match data_type {
        DataType::Decimal { scale } if scale > 0 && has_digits => Type::primitive_type_builder(name, Physical::INT64)
            .with_logical_type(Some(LogicalType::decimal(scale.into(), DIGITS)))
            .with_precision(DIGITS)
            .with_scale(scale.into()),
        DataType::String => {
            Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String))
        }
        _ => Type::primitive_type_builder(name, Physical::INT64),
    };
    Ok(Arc::new(column.with_repetition(Repetition::REQUIRED).build()?))
}

/// Compressions under the format's names.
const CODECS: [(CompressionCodec, &str); 5] = [
    (CompressionCodec::UNCOMPRESSED, "none"),
    (CompressionCodec::SNAPPY, "snappy"),
    (CompressionCodec::LZ4_RAW, "lz4"),
    (CompressionCodec::GZIP, "gzip"),
    (CompressionCodec::ZSTD, "zstd"),
];

/// What the format calls a compression.
pub(super) fn codec(compression: &dyn Compression) -> Option<CompressionCodec> {
    CODECS.iter().find(|(_, name)| *name == compression.name()).map(|(codec, _)| *codec)
}

/// The compression that the format calls so; `Some(None)` is no compression.
pub(super) fn compression(codec: CompressionCodec) -> Option<Option<&'static dyn Compression>> {
    let (_, name) = CODECS.iter().find(|(known, _)| *known == codec)?;
    let compression = brc_compress::by_name(name)?;
    Some(if Compressor::of(compression).is_none() { None } else { Some(compression) })
}
