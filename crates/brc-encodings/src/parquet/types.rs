//! Maps parquet columns to table columns, and back.

use super::int96;
use crate::columnar::arrow_columns;
use arrow_schema::DataType;
use brc_core::{Field, LogicalType, TimeUnit};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::{ConvertedType, LogicalType as Annotation, Repetition, TimeUnit as Unit, Type as Physical};
use parquet::errors::Result;
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use std::sync::Arc;

/// The layout of a column's values in pages, of those that the reader here supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// Strings, each with its length.
    Bytes,
    /// 32-bit signed integers.
    Int32,
    /// 64-bit signed integers.
    Int64,
    /// 32-bit floats.
    Float32,
    /// 64-bit floats.
    Float64,
}

impl Stored {
    /// The bytes of a value; 0 for strings.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Bytes => 0,
            Self::Int32 | Self::Float32 => 4,
            Self::Int64 | Self::Float64 => 8,
        }
    }
}

/// A column of a file.
pub(super) struct ColumnType {
    pub(super) logical_type: LogicalType,
    pub(super) nullable: bool,
    /// Whether it has no type, and only nulls.
    pub(super) is_untyped: bool,
    /// `None` if only the library can read it.
    pub(super) stored: Option<Stored>,
    /// The type that the library receives: strings are binary, 96-bit timestamps are twelve bytes.
    pub(super) file_type: TypePtr,
}

/// The type of a column of a file.
///
/// # Errors
/// The actual type, with an article, if a table cannot hold it.
pub(super) fn column(root: &TypePtr) -> Result<ColumnType, String> {
    let info = root.get_basic_info();
    let is_repeated = info.has_repetition() && info.repetition() == Repetition::REPEATED;
    if root.is_group() || is_repeated {
        return Err(nested(root).to_owned());
    }
    let (annotation, converted) = (info.logical_type_ref(), info.converted_type());
    let alone = |column: &TypePtr| Type::group_type_builder("schema").with_fields(vec![Arc::clone(column)]).build();
    let schema = alone(root).and_then(|root| parquet_to_arrow_schema(&SchemaDescriptor::new(Arc::new(root)), None));
    let schema = schema.map_err(|error| format!("of a type that the library does not know ({error})"))?;
    let field = schema.fields().first().ok_or("of no type")?;
    let is_enum = annotation == Some(&Annotation::Enum) || converted == ConvertedType::ENUM;
    let physical = root.get_physical_type();
    let logical_type = match field.data_type() {
        _ if is_enum => LogicalType::String,
        DataType::FixedSizeBinary(UUID_BYTES) if annotation == Some(&Annotation::Uuid) => LogicalType::Uuid,
        data_type => arrow_columns::logical_type(data_type)?,
    };
    let (is_untyped, is_unsigned) = (field.data_type().is_null(), field.data_type().is_unsigned_integer());
    let stored = match (physical, logical_type) {
        _ if is_untyped || is_unsigned => None,
        (Physical::INT32, _) => Some(Stored::Int32),
        (Physical::INT64, _) => Some(Stored::Int64),
        (Physical::FLOAT, _) => Some(Stored::Float32),
        (Physical::DOUBLE, _) => Some(Stored::Float64),
        (Physical::BYTE_ARRAY, LogicalType::String | LogicalType::Binary) => Some(Stored::Bytes),
        _ => None,
    };
    let plain = |physical, length| {
        let column = Type::primitive_type_builder(root.name(), physical).with_length(length);
        column.with_repetition(info.repetition()).build().map(Arc::new).map_err(|error| error.to_string())
    };
    let file_type = match (stored, physical) {
        (Some(Stored::Bytes), _) => plain(physical, 0)?,
        (_, Physical::INT96) => plain(Physical::FIXED_LEN_BYTE_ARRAY, int96::BYTES)?,
        _ => Arc::clone(root),
    };
    let nullable = info.repetition() == Repetition::OPTIONAL || is_untyped;
    Ok(ColumnType { logical_type, nullable, is_untyped, stored, file_type })
}

/// The columns that are durations according to the Arrow schema of the writer: parquet has only their integers. Each is
/// given by its position among all columns and its type, with an article.
pub(super) fn durations(metadata: &FileMetaData) -> Vec<(usize, String)> {
    let Some(pairs) = metadata.key_value_metadata() else { return Vec::new() };
    let schema = parquet_to_arrow_schema(metadata.schema_descr(), Some(pairs));
    let fields = schema.map(|schema| schema.fields).unwrap_or_default();
    let is_duration = |field: &arrow_schema::FieldRef| matches!(field.data_type(), DataType::Duration(_));
    let fields = fields.iter().enumerate().filter(|(_, field)| is_duration(field));
    fields.filter_map(|(at, field)| Some((at, arrow_columns::logical_type(field.data_type()).err()?))).collect()
}

/// The name of a nested column's type, by its outermost group.
fn nested(root: &Type) -> &'static str {
    let root = root.get_basic_info();
    match (root.logical_type_ref(), root.converted_type()) {
        (Some(Annotation::List), _) | (_, ConvertedType::LIST) => "a list",
        (Some(Annotation::Map), _) | (_, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => "a map",
        (Some(Annotation::Variant(_)), _) => "a variant",
        _ if root.has_repetition() && root.repetition() == Repetition::REPEATED => "a list",
        _ => "a struct",
    }
}

/// The bytes of a UUID.
const UUID_BYTES: i32 = 16;

/// The bytes of a decimal with more digits than 64 bits can hold.
pub(super) const WIDE_BYTES: usize = 16;

/// The maximum digits of a 32-bit decimal.
const DIGITS_32: u8 = 9;

/// The physical type of a logical type in files.
pub(super) fn physical(logical_type: LogicalType) -> Physical {
    match logical_type {
        LogicalType::Bool => Physical::BOOLEAN,
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Date
        | LogicalType::Time { unit: TimeUnit::Second | TimeUnit::Millisecond } => Physical::INT32,
        LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Time { unit: TimeUnit::Microsecond | TimeUnit::Nanosecond }
        | LogicalType::Timestamp { .. } => Physical::INT64,
        LogicalType::Decimal { precision, .. } if precision <= DIGITS_32 => Physical::INT32,
        LogicalType::Decimal { precision, .. } if precision <= LogicalType::MAX_PRECISION_64 => Physical::INT64,
        LogicalType::Decimal { .. } | LogicalType::Uuid => Physical::FIXED_LEN_BYTE_ARRAY,
        LogicalType::Float32 => Physical::FLOAT,
        LogicalType::Float64 => Physical::DOUBLE,
        LogicalType::String | LogicalType::Binary => Physical::BYTE_ARRAY,
    }
}

/// The file column of a table column.
pub(super) fn field(field: &Field) -> Result<TypePtr> {
    let column = Type::primitive_type_builder(&field.name, physical(field.logical_type));
    let unit = |unit: TimeUnit| match unit {
        TimeUnit::Second | TimeUnit::Millisecond => Unit::MILLIS,
        TimeUnit::Microsecond => Unit::MICROS,
        TimeUnit::Nanosecond => Unit::NANOS,
    };
    let column = match field.logical_type {
        LogicalType::Bool | LogicalType::Int64 | LogicalType::Float32 | LogicalType::Float64 | LogicalType::Binary => {
            column
        }
        LogicalType::Int8 => column.with_logical_type(Some(Annotation::integer(8, true))),
        LogicalType::Int16 => column.with_logical_type(Some(Annotation::integer(16, true))),
        LogicalType::Int32 => column.with_logical_type(Some(Annotation::integer(32, true))),
        LogicalType::UInt64 => column.with_logical_type(Some(Annotation::integer(64, false))),
        LogicalType::Decimal { precision, scale } => column
            .with_length(if precision > LogicalType::MAX_PRECISION_64 { WIDE_BYTES as i32 } else { 0 })
            .with_logical_type(Some(Annotation::decimal(scale.into(), precision.into())))
            .with_precision(precision.into())
            .with_scale(scale.into()),
        LogicalType::Date => column.with_logical_type(Some(Annotation::Date)),
        LogicalType::Time { unit: of } => column.with_logical_type(Some(Annotation::time(false, unit(of)))),
        LogicalType::Timestamp { unit: of, zone } => {
            column.with_logical_type(Some(Annotation::timestamp(zone, unit(of))))
        }
        LogicalType::String => column.with_logical_type(Some(Annotation::String)),
        LogicalType::Uuid => column.with_length(UUID_BYTES).with_logical_type(Some(Annotation::Uuid)),
    };
    let repetition = if field.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Ok(Arc::new(column.with_repetition(repetition).build()?))
}
