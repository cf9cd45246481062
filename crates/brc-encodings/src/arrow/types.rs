//! Which arrow columns are which columns of a table.

use arrow_ipc::{Field, Int, Schema as FlatSchema, Type};
use brc_core::DataType;

/// How the values of a column lie in buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// Integers.
    Integers(Width),
    /// Signed integers of 128 bits.
    Wide,
    /// Strings one after the other, and where each of them ends in 32 bits.
    Strings,
    /// The same with 64 bits.
    LongStrings,
    /// 16 bytes for each string: short ones themselves, or where they are.
    Views,
}

/// The width of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Width {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Width {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    fn of(int: Int<'_>) -> Option<Self> {
        match (int.bitWidth(), int.is_signed()) {
            (8, true) => Some(Self::I8),
            (8, false) => Some(Self::U8),
            (16, true) => Some(Self::I16),
            (16, false) => Some(Self::U16),
            (32, true) => Some(Self::I32),
            (32, false) => Some(Self::U32),
            (64, true) => Some(Self::I64),
            (64, false) => Some(Self::U64),
            _ => None,
        }
    }
}

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) struct FileColumn {
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// How its values lie; those of its dictionary, if it has one.
    pub(super) stored: Stored,
    /// The number of its dictionary, and the width of the codes.
    pub(super) dictionary: Option<(i64, Width)>,
}

impl FileColumn {
    /// How many buffers it has of its own in a record batch, without those that views point into.
    pub(super) fn buffers(&self) -> usize {
        match (self.dictionary, self.stored) {
            (None, Stored::Strings | Stored::LongStrings) => 3,
            _ => 2,
        }
    }
}

/// The columns of a file.
///
/// # Errors
/// What a table cannot hold.
pub(super) fn columns(schema: FlatSchema<'_>) -> Result<Vec<FileColumn>, String> {
    if schema.endianness() != arrow_ipc::Endianness::Little {
        return Err("its numbers are big-endian".into());
    }
    schema.fields().into_iter().flatten().map(column).collect()
}

fn column(field: Field<'_>) -> Result<FileColumn, String> {
    let name = field.name().unwrap_or_default().to_owned();
    let strange = |what: &str| Err(format!("column '{name}' is {what}"));
    let Some((data_type, stored)) = value_type(field) else {
        return strange(&described(field));
    };
    let dictionary = match field.dictionary() {
        None => None,
        Some(dictionary) if data_type == DataType::String => {
            // Codes of 32 bits are what a file means that does not say.
            let width = dictionary.indexType().map_or(Some(Width::I32), Width::of);
            let Some(width) = width else { return strange("a dictionary with codes of an unknown width") };
            Some((dictionary.id(), width))
        }
        Some(_) => return strange("a dictionary of numbers"),
    };
    Ok(FileColumn { name, data_type, stored, dictionary })
}

fn value_type(field: Field<'_>) -> Option<(DataType, Stored)> {
    let text = |stored| Some((DataType::String, stored));
    match field.type_type() {
        Type::Utf8 | Type::Binary => text(Stored::Strings),
        Type::LargeUtf8 | Type::LargeBinary => text(Stored::LongStrings),
        Type::Utf8View | Type::BinaryView => text(Stored::Views),
        Type::Int => Some((DataType::Decimal { scale: 0 }, Stored::Integers(Width::of(field.type_as_int()?)?))),
        Type::Decimal => {
            let decimal = field.type_as_decimal()?;
            let scale = u8::try_from(decimal.scale()).ok().filter(|scale| *scale <= DataType::MAX_SCALE)?;
            let stored = match decimal.bitWidth() {
                32 => Stored::Integers(Width::I32),
                64 => Stored::Integers(Width::I64),
                128 => Stored::Wide,
                _ => return None,
            };
            Some((DataType::Decimal { scale }, stored))
        }
        _ => None,
    }
}

/// The type of a column that no table can hold.
fn described(field: Field<'_>) -> String {
    if let Some(decimal) = field.type_as_decimal() {
        return format!("a decimal of {} bits and scale {}", decimal.bitWidth(), decimal.scale());
    }
    field.type_type().variant_name().map_or_else(|| "of an unknown type".to_owned(), |name| format!("of type {name}"))
}
