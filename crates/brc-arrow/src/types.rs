//! The Arrow types of table columns.

use crate::reader::Options;
use crate::strings::StringForm;
use arrow_schema::{DataType, Field, FieldRef, Schema as ArrowSchema, TimeUnit as ArrowUnit};
use brc_core::{LogicalType, TimeUnit, uuid};
use std::collections::HashMap;

/// The metadata key of a field's extension type, and the name of the UUID type.
const EXTENSION: (&str, &str) = ("ARROW:extension:name", "arrow.uuid");

/// The schema of the record batches for these columns, of which there may be none.
#[must_use]
pub fn arrow_schema(fields: &[brc_core::Field], options: &Options) -> ArrowSchema {
    let field = |field: &brc_core::Field| {
        let own = Field::new(&field.name, data_type(field.logical_type, options), field.nullable);
        match field.logical_type {
            LogicalType::Uuid => {
                own.with_metadata(HashMap::from([EXTENSION].map(|(key, value)| (key.to_owned(), value.to_owned()))))
            }
            _ => own,
        }
    };
    ArrowSchema::new(fields.iter().map(field).collect::<Vec<_>>())
}

/// The schema with the types that a consumer requests for columns of the same names, if these are other string layouts
/// or wider integers. Other requests are ignored: they are optional, and some conversions would lose data.
#[must_use]
pub fn requested_schema(own: &ArrowSchema, requested: &ArrowSchema) -> ArrowSchema {
    let field = |field: &FieldRef| match requested.column_with_name(field.name()) {
        Some((_, requested)) => match requested_type(field.data_type(), requested.data_type()) {
            Some(data_type) => FieldRef::new(field.as_ref().clone().with_data_type(data_type)),
            None => FieldRef::clone(field),
        },
        None => FieldRef::clone(field),
    };
    let fields: Vec<_> = own.fields().iter().map(field).collect();
    ArrowSchema::new(fields).with_metadata(own.metadata().clone())
}

/// The requested type, if such arrays can be made and hold all values.
fn requested_type(own: &DataType, requested: &DataType) -> Option<DataType> {
    let is_wider = |all: &[DataType]| all.contains(requested).then(|| requested.clone());
    match own {
        DataType::Utf8View | DataType::Utf8 | DataType::Dictionary(..) => match requested {
            DataType::Dictionary(..) => Some(dictionary()),
            _ => is_wider(&[DataType::Utf8View, DataType::Utf8, DataType::LargeUtf8]),
        },
        DataType::Binary => is_wider(&[DataType::LargeBinary]),
        DataType::Int8 => is_wider(&[DataType::Int16, DataType::Int32, DataType::Int64]),
        DataType::Int16 => is_wider(&[DataType::Int32, DataType::Int64]),
        DataType::Int32 => is_wider(&[DataType::Int64]),
        _ => None,
    }
}

/// The type of dictionary-encoded strings.
fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The array type of a column.
pub(crate) fn data_type(logical_type: LogicalType, options: &Options) -> DataType {
    match logical_type {
        LogicalType::Bool => DataType::Boolean,
        LogicalType::Int8 => DataType::Int8,
        LogicalType::Int16 => DataType::Int16,
        LogicalType::Int32 => DataType::Int32,
        LogicalType::Int64 => DataType::Int64,
        LogicalType::UInt64 => DataType::UInt64,
        LogicalType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        LogicalType::Float32 => DataType::Float32,
        LogicalType::Float64 => DataType::Float64,
        LogicalType::Date => DataType::Date32,
        LogicalType::Time { unit } if unit <= TimeUnit::Millisecond => DataType::Time32(arrow_unit(unit)),
        LogicalType::Time { unit } => DataType::Time64(arrow_unit(unit)),
        LogicalType::Timestamp { unit, zone } => DataType::Timestamp(arrow_unit(unit), zone.then(|| "UTC".into())),
        LogicalType::String if options.strings_as_binary => DataType::Binary,
        LogicalType::String => match options.strings {
            StringForm::View => DataType::Utf8View,
            StringForm::Dictionary => dictionary(),
            StringForm::Plain => DataType::Utf8,
        },
        LogicalType::Binary => DataType::Binary,
        LogicalType::Uuid => DataType::FixedSizeBinary(uuid::BYTES as i32),
    }
}

fn arrow_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Second => ArrowUnit::Second,
        TimeUnit::Millisecond => ArrowUnit::Millisecond,
        TimeUnit::Microsecond => ArrowUnit::Microsecond,
        TimeUnit::Nanosecond => ArrowUnit::Nanosecond,
    }
}
