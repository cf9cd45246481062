//! Maps arrow columns to table columns.

use super::messages::{EXTENSION, UUID, value_of};
use crate::columnar::arrow_columns::logical_type;
use crate::columnar::{Fault, guarded};
use arrow_ipc::{Field as FlatField, Int, Schema as FlatSchema, Type, UnionMode};
use arrow_schema::DataType;
use brc_core::names::{renamed, unique_names};
use brc_core::{Field, LogicalType, UnsupportedColumn};

/// The width of codes.
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

    /// The type of such codes.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::I8 => DataType::Int8,
            Self::U8 => DataType::UInt8,
            Self::I16 => DataType::Int16,
            Self::U16 => DataType::UInt16,
            Self::I32 => DataType::Int32,
            Self::U32 => DataType::UInt32,
            Self::I64 => DataType::Int64,
            Self::U64 => DataType::UInt64,
        }
    }
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Columns {
    /// The supported columns.
    pub(super) supported: Vec<FileColumn>,
    /// The nodes and buffers of record batches after the last supported column.
    pub(super) trailing: LayoutCounts,
    /// The unsupported columns.
    pub(super) unsupported_columns: Vec<UnsupportedColumn>,
    /// A note on their names for the user.
    pub(super) note: Option<String>,
}

/// The metadata of a record batch that belong to skipped columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LayoutCounts {
    pub(super) nodes: usize,
    /// Buffers, without the data buffers of views.
    pub(super) buffers: usize,
    /// View columns.
    pub(super) views: usize,
}

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) struct FileColumn {
    /// The nodes and buffers before it in record batches.
    pub(super) before: LayoutCounts,
    /// Its own nodes and buffers.
    pub(super) own: LayoutCounts,
    pub(super) name: String,
    pub(super) logical_type: LogicalType,
    pub(super) nullable: bool,
    /// The type of its values, or of its dictionary's values. Text is binary here: it may hold any bytes.
    pub(super) stored: DataType,
    /// The id of its dictionary, and the width of the codes.
    pub(super) dictionary: Option<(i64, Width)>,
}

impl FileColumn {
    /// The field of the table.
    pub(super) fn field(&self) -> Field {
        Field { name: self.name.clone(), logical_type: self.logical_type, nullable: self.nullable }
    }

    /// The values of its dictionary as a plain column.
    pub(super) fn of_values(&self) -> Self {
        let views = usize::from(self.stored == DataType::BinaryView);
        let buffers = match self.stored {
            DataType::Null => 0,
            DataType::Binary | DataType::LargeBinary => 3,
            _ => 2,
        };
        Self {
            before: LayoutCounts::default(),
            own: LayoutCounts { nodes: 1, buffers, views },
            dictionary: None,
            ..self.clone()
        }
    }

    /// Whether its values are strings.
    pub(super) fn has_strings(&self) -> bool {
        matches!(self.logical_type, LogicalType::String | LogicalType::Binary)
    }
}

/// The columns of a file.
///
/// # Errors
/// If none of them is supported.
pub(super) fn columns(schema: FlatSchema<'_>) -> Result<Columns, Fault> {
    if schema.endianness() != arrow_ipc::Endianness::Little {
        return Err(Fault::unsupported("its numbers are big-endian"));
    }
    let (mut supported, mut trailing, mut unsupported_columns) = (Vec::new(), LayoutCounts::default(), Vec::new());
    let own = || schema.fields().into_iter().flatten().map(|field| field.name().unwrap_or_default());
    let names = unique_names(own());
    let note = renamed(own(), &names);
    for (field, name) in schema.fields().into_iter().flatten().zip(names) {
        match column(field) {
            Ok(column) => supported.push(FileColumn { before: std::mem::take(&mut trailing), name, ..column }),
            Err(kind) if kind == UNKNOWN => return Err(Fault::corrupt(format!("column '{name}' is {kind}"))),
            Err(kind) => {
                let column = UnsupportedColumn { name, kind };
                trailing.add(field, MAX_NESTING).ok_or_else(|| Fault::unsupported(column.to_string()))?;
                unsupported_columns.push(column);
            }
        }
    }
    Ok(Columns { supported, trailing, unsupported_columns, note })
}

/// The description of a column whose type is unknown or lacks its parameters.
const UNKNOWN: &str = "of an unknown type";

/// The maximum nesting of types.
const MAX_NESTING: usize = 64;

impl LayoutCounts {
    /// Adds the nodes and buffers of a column; `None` if they are unknown for its type.
    fn add(&mut self, field: FlatField<'_>, depth: usize) -> Option<()> {
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
/// The actual type, with an article, if a table cannot hold it.
fn column(field: FlatField<'_>) -> Result<FileColumn, String> {
    if let Some(int) = field.type_as_int()
        && Width::of(int).is_none()
    {
        return Err(format!("a {}-bit integer", int.bitWidth()));
    }
    // The library panics on types that are unknown or lack their parameters.
    let data_type = guarded(|| {
        let mut data_type = arrow_schema::Field::from(field).data_type().clone();
        if let DataType::Dictionary(_, values) = data_type {
            data_type = *values;
        }
        Ok::<_, Fault>(data_type)
    });
    let data_type = data_type.map_err(|_| UNKNOWN.to_owned())?;
    let is_uuid = value_of(field.custom_metadata(), EXTENSION) == Some(UUID);
    let logical_type = match data_type {
        DataType::FixedSizeBinary(16) if is_uuid => LogicalType::Uuid,
        _ => logical_type(&data_type)?,
    };
    let dictionary = match field.dictionary() {
        None => None,
        // Codes have 32 bits by default.
        Some(dictionary) => {
            let width = dictionary.indexType().map_or(Some(Width::I32), Width::of);
            Some((dictionary.id(), width.ok_or("a dictionary with codes of an unknown width")?))
        }
    };
    let mut own = LayoutCounts::default();
    own.add(field, MAX_NESTING).ok_or_else(|| UNKNOWN.to_owned())?;
    let stored = match data_type {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        other => other,
    };
    let name = field.name().unwrap_or_default().to_owned();
    let nullable = field.nullable() || stored == DataType::Null;
    Ok(FileColumn { before: LayoutCounts::default(), own, name, logical_type, nullable, stored, dictionary })
}
