//! Which arrow columns are which columns of a table.

use arrow_ipc::{Field, Int, Precision, Schema as FlatSchema, TimeUnit, Type, UnionMode};
use brc_core::{LeftOut, LogicalType};

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

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Columns {
    /// Those of the table.
    pub(super) held: Vec<FileColumn>,
    /// What record batches have behind the last of them.
    pub(super) behind: Gap,
    /// Those that no table can hold.
    pub(super) left_out: Vec<LeftOut>,
}

/// What columns that are left out take up in the metadata of a record batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) nodes: usize,
    /// Buffers, without those that views point into.
    pub(super) buffers: usize,
    /// Columns of views.
    pub(super) views: usize,
}

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) struct FileColumn {
    /// What stands before it in record batches.
    pub(super) before: Gap,
    pub(super) name: String,
    pub(super) logical_type: LogicalType,
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
/// Why none of them can be read.
pub(super) fn columns(schema: FlatSchema<'_>) -> Result<Columns, String> {
    if schema.endianness() != arrow_ipc::Endianness::Little {
        return Err("its numbers are big-endian".into());
    }
    let (mut held, mut behind, mut left_out) = (Vec::new(), Gap::default(), Vec::new());
    for field in schema.fields().into_iter().flatten() {
        match column(field) {
            Ok(column) => held.push(FileColumn { before: std::mem::take(&mut behind), ..column }),
            Err(kind) => {
                let column = LeftOut { name: field.name().unwrap_or_default().to_owned(), kind };
                behind.add(field, MOST_NESTED).ok_or_else(|| column.to_string())?;
                left_out.push(column);
            }
        }
    }
    Ok(Columns { held, behind, left_out })
}

/// How deep types may be nested.
const MOST_NESTED: usize = 64;

impl Gap {
    /// Adds what a column takes up; `None` if that is not known of its type.
    fn add(&mut self, field: Field<'_>, depth: usize) -> Option<()> {
        self.nodes += 1;
        if field.dictionary().is_some() {
            self.buffers += 2;
            return Some(());
        }
        self.buffers += match field.type_type() {
            Type::Null | Type::RunEndEncoded => 0,
            Type::Struct_ | Type::FixedSizeList => 1,
            Type::Utf8 | Type::Binary | Type::LargeUtf8 | Type::LargeBinary => 3,
            Type::ListView | Type::LargeListView => 3,
            Type::Utf8View | Type::BinaryView => {
                self.views += 1;
                2
            }
            Type::Union => match field.type_as_union()?.mode() {
                UnionMode::Sparse => 1,
                UnionMode::Dense => 2,
                _ => return None,
            },
            Type::Int | Type::FloatingPoint | Type::Bool | Type::Decimal | Type::FixedSizeBinary => 2,
            Type::Date | Type::Time | Type::Timestamp | Type::Interval | Type::Duration => 2,
            Type::List | Type::LargeList | Type::Map => 2,
            _ => return None,
        };
        let depth = depth.checked_sub(1)?;
        field.children().into_iter().flatten().try_for_each(|child| self.add(child, depth))
    }
}

/// # Errors
/// What it is instead of something that a table can hold, with an article.
fn column(field: Field<'_>) -> Result<FileColumn, String> {
    let name = field.name().unwrap_or_default().to_owned();
    let (logical_type, stored) = value_type(field).ok_or_else(|| described(field))?;
    let dictionary = match field.dictionary() {
        None => None,
        Some(dictionary) if logical_type == LogicalType::String => {
            // Codes of 32 bits are what a file means that does not say.
            let width = dictionary.indexType().map_or(Some(Width::I32), Width::of);
            Some((dictionary.id(), width.ok_or("a dictionary with codes of an unknown width")?))
        }
        Some(_) => return Err("a dictionary of numbers".to_owned()),
    };
    Ok(FileColumn { before: Gap::default(), name, logical_type, stored, dictionary })
}

fn value_type(field: Field<'_>) -> Option<(LogicalType, Stored)> {
    let text = |stored| Some((LogicalType::String, stored));
    match field.type_type() {
        Type::Utf8 | Type::Binary => text(Stored::Strings),
        Type::LargeUtf8 | Type::LargeBinary => text(Stored::LongStrings),
        Type::Utf8View | Type::BinaryView => text(Stored::Views),
        Type::Int => Some((LogicalType::Int64, Stored::Integers(Width::of(field.type_as_int()?)?))),
        Type::Decimal => {
            let decimal = field.type_as_decimal()?;
            let scale = u8::try_from(decimal.scale()).ok().filter(|scale| *scale <= LogicalType::MAX_PRECISION_64)?;
            let stored = match decimal.bitWidth() {
                32 => Stored::Integers(Width::I32),
                64 => Stored::Integers(Width::I64),
                128 => Stored::Wide,
                _ => return None,
            };
            Some((LogicalType::number(scale), stored))
        }
        _ => None,
    }
}

/// The type of a column that no table can hold.
fn described(field: Field<'_>) -> String {
    let unit = |unit| match unit {
        TimeUnit::SECOND => "s",
        TimeUnit::MILLISECOND => "ms",
        TimeUnit::MICROSECOND => "us",
        _ => "ns",
    };
    if let Some(decimal) = field.type_as_decimal() {
        return format!("a decimal of {} bits with {} decimals", decimal.bitWidth(), decimal.scale());
    }
    if let Some(time) = field.type_as_time() {
        return format!("a time({})", unit(time.unit()));
    }
    if let Some(timestamp) = field.type_as_timestamp() {
        return format!("a timestamp({})", unit(timestamp.unit()));
    }
    if let Some(duration) = field.type_as_duration() {
        return format!("a duration({})", unit(duration.unit()));
    }
    if let Some(float) = field.type_as_floating_point() {
        let kind = match float.precision() {
            Precision::HALF => "a float of 16 bits",
            Precision::SINGLE => "a float",
            _ => "a double",
        };
        return kind.to_owned();
    }
    match field.type_type() {
        Type::Null => "of the null type",
        Type::Bool => "a boolean",
        Type::Date => "a date",
        Type::Interval => "an interval",
        Type::FixedSizeBinary => "binary data of a fixed length",
        Type::List | Type::LargeList | Type::FixedSizeList | Type::ListView | Type::LargeListView => "a list",
        Type::Struct_ => "a struct",
        Type::Map => "a map",
        Type::Union => "a union",
        Type::RunEndEncoded => "run-end encoded",
        _ => "of an unknown type",
    }
    .to_owned()
}
