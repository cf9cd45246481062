//! Which parquet columns are which columns of a table, and the other way round.

use brc_compress::{Compression, Compressor};
use brc_core::LogicalType;
use parquet::basic::{
    CompressionCodec, ConvertedType, LogicalType as Annotation, Repetition, TimeUnit, Type as Physical,
};
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

/// What a column of a file is, which is or is inside of the column `root` of the schema.
///
/// # Errors
/// What it is instead of something that a table can hold, with an article.
pub(super) fn column(column: &ColumnDescriptor, root: &Type) -> Result<(LogicalType, Stored), String> {
    if column.max_rep_level() > 0 || column.path().parts().len() != 1 || column.max_def_level() > 1 {
        return Err(nested(root).to_owned());
    }
    let logical = column.logical_type_ref();
    let converted = column.converted_type();
    let physical = column.physical_type();
    let scale = match logical {
        Some(Annotation::Decimal(decimal)) => Some(decimal.scale),
        None if converted == ConvertedType::DECIMAL => Some(column.type_scale()),
        _ => None,
    };
    if let Some(scale) = scale {
        let fits = u8::try_from(scale).ok().filter(|scale| *scale <= LogicalType::MAX_PRECISION_64);
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
            (Some(scale), Some(stored)) => Ok((LogicalType::number(scale), stored)),
            _ => Err(format!("a decimal with {scale} decimals, of the physical type {physical}")),
        };
    }
    let integer = |stored| Ok((LogicalType::Int64, stored));
    match (physical, logical, converted) {
        (
            Physical::BYTE_ARRAY,
            None | Some(Annotation::String | Annotation::Enum | Annotation::Json),
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON,
        ) => Ok((LogicalType::String, Stored::Bytes)),
        (Physical::INT32, Some(Annotation::Integer(int)), _) if !int.is_signed => integer(Stored::Unsigned32),
        (Physical::INT64, Some(Annotation::Integer(int)), _) if !int.is_signed => integer(Stored::Unsigned64),
        (Physical::INT32, Some(Annotation::Integer(_)), _) => integer(Stored::Int32),
        (Physical::INT64, Some(Annotation::Integer(_)), _) => integer(Stored::Int64),
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
        (_, Some(logical), _) => Err(described(logical)),
        (_, None, converted) => Err(described_by_old_types(physical, converted).to_owned()),
    }
}

/// What a column of nested values is, by its outermost group.
fn nested(root: &Type) -> &'static str {
    let root = root.get_basic_info();
    match (root.logical_type_ref(), root.converted_type()) {
        (Some(Annotation::List), _) | (_, ConvertedType::LIST) => "a list",
        (Some(Annotation::Map), _) | (_, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => "a map",
        _ if root.has_repetition() && root.repetition() == Repetition::REPEATED => "a list",
        _ => "a struct",
    }
}

/// A logical type that no table can hold.
fn described(logical: &Annotation) -> String {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => "ms",
        TimeUnit::MICROS => "us",
        TimeUnit::NANOS => "ns",
    };
    match logical {
        Annotation::Date => "a date",
        Annotation::Time(time) => return format!("a time({})", unit(&time.unit)),
        Annotation::Timestamp(timestamp) => return format!("a timestamp({})", unit(&timestamp.unit)),
        Annotation::Unknown => "of the null type",
        Annotation::Bson => "a BSON document",
        Annotation::Uuid => "a UUID",
        Annotation::Float16 => "a float of 16 bits",
        Annotation::Variant(_) => "a variant",
        Annotation::Geometry(_) => "a geometry",
        Annotation::Geography(_) => "a geography",
        _ => "of an unknown logical type",
    }
    .to_owned()
}

/// The same by the types of old files.
fn described_by_old_types(physical: Physical, converted: ConvertedType) -> &'static str {
    match (converted, physical) {
        (ConvertedType::DATE, _) => "a date",
        (ConvertedType::TIME_MILLIS, _) => "a time(ms)",
        (ConvertedType::TIME_MICROS, _) => "a time(us)",
        (ConvertedType::TIMESTAMP_MILLIS, _) => "a timestamp(ms)",
        (ConvertedType::TIMESTAMP_MICROS, _) => "a timestamp(us)",
        (ConvertedType::INTERVAL, _) => "an interval",
        (ConvertedType::BSON, _) => "a BSON document",
        (_, Physical::BOOLEAN) => "a boolean",
        (_, Physical::INT96) => "a timestamp(ns)",
        (_, Physical::FLOAT) => "a float",
        (_, Physical::DOUBLE) => "a double",
        (_, Physical::FIXED_LEN_BYTE_ARRAY) => "binary data of a fixed length",
        _ => "of an unknown type",
    }
}

/// The bytes of a decimal in the files that are written. The rows before a number of nineteen digits are written when it
/// comes, so all decimals have room for it, and the footer tells how many digits there are in the end.
pub(super) const DECIMAL_BYTES: usize = 9;

/// The bytes of a decimal: big-endian, as the format wants it.
pub(super) fn decimal(value: i64) -> [u8; DECIMAL_BYTES] {
    let mut bytes = [(value >> 63) as u8; DECIMAL_BYTES];
    bytes[DECIMAL_BYTES - 8..].copy_from_slice(&value.to_be_bytes());
    bytes
}

/// Whether numbers of a column are written as [`decimal`] rather than as integers.
pub(super) fn is_decimal(logical_type: LogicalType) -> bool {
    matches!(logical_type, LogicalType::Decimal { scale: 1.., .. })
}

/// The column of a file for one of a table; `digits` are those that a decimal of it has at most.
pub(super) fn field(name: &str, logical_type: LogicalType, digits: i32) -> parquet::errors::Result<TypePtr> {
    let column = match logical_type {
        LogicalType::Decimal { scale, .. } if is_decimal(logical_type) => {
            Type::primitive_type_builder(name, Physical::FIXED_LEN_BYTE_ARRAY)
                .with_length(DECIMAL_BYTES as i32)
                .with_logical_type(Some(Annotation::decimal(scale.into(), digits)))
                .with_precision(digits)
                .with_scale(scale.into())
        }
        LogicalType::String => {
            Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_logical_type(Some(Annotation::String))
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
