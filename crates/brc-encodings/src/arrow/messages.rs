//! The flatbuffers metadata of an arrow file: the messages before column data, and the footer.

use crate::columnar::metadata_of;
use arrow_ipc::{
    Binary, BinaryArgs, Block, BodyCompression, BodyCompressionArgs, BodyCompressionMethod, Bool, BoolArgs, Buffer,
    CompressionType, Date, DateArgs, DateUnit, Decimal, DecimalArgs, DictionaryBatch, DictionaryBatchArgs,
    DictionaryEncoding, DictionaryEncodingArgs, Field, FieldArgs, FieldNode, FixedSizeBinary, FixedSizeBinaryArgs,
    FloatingPoint, FloatingPointArgs, Footer, FooterArgs, Int, IntArgs, KeyValue, KeyValueArgs, Message, MessageArgs,
    MessageHeader, MetadataVersion, Precision, RecordBatch, RecordBatchArgs, Schema as FlatSchema, SchemaArgs, Time,
    TimeArgs, TimeUnit as FlatUnit, Timestamp, TimestampArgs, Type, Utf8, Utf8Args,
};
use brc_core::{Field as TableField, LogicalType, Schema, TimeUnit, uuid};
use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, UnionWIPOffset, Vector, WIPOffset};
use std::ops::Range;

/// The alignment of all buffers, so that readers can use them in place.
pub(super) const ALIGNMENT: usize = 64;

type About<'a> = Vector<'a, ForwardsUOffset<KeyValue<'a>>>;

/// The value of a key, if it is there.
pub(super) fn value_of<'a>(about: Option<About<'a>>, key: &str) -> Option<&'a str> {
    about?.iter().find(|about| about.key() == Some(key))?.value()
}

/// The field key of the extension type's name.
pub(super) const EXTENSION: &str = "ARROW:extension:name";

/// The field key of the extension type's parameters; UUIDs have none.
const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// The extension type of UUIDs, which are 16 bytes each.
pub(super) const UUID: &str = "arrow.uuid";

/// The marker before the length of a message.
pub(super) const CONTINUATION: [u8; 4] = [0xff; 4];

/// The number of bytes to the next multiple of [`ALIGNMENT`].
pub(super) fn padding(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT) - length
}

/// Whether each column is dictionary-encoded in files: strings are. Dictionaries are numbered from 0 in column order.
pub(super) fn coded_in_files(schema: &Schema) -> Vec<bool> {
    schema.fields().iter().map(|field| field.logical_type == LogicalType::String).collect()
}

/// The size of decimals: few programs compute with smaller ones.
pub(super) const DECIMAL_BITS: i32 = 128;

/// The schema message that begins a file, at offset `start`, or a stream; `coded` marks dictionary-encoded columns.
/// Decimals of up to 18 digits have `decimal_bits`.
pub(super) fn schema(
    schema: &Schema,
    coded: &[bool],
    decimal_bits: i32,
    start: usize,
    about: &[(&str, String)],
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let header = flat_schema(&mut builder, schema, coded, decimal_bits).as_union_value();
    message(builder, MessageHeader::Schema, header, 0, start, about)
}

/// A column of a record batch: its null count, and the ranges of its buffers in the body, first the validity.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnBuffers {
    pub(super) nulls: usize,
    pub(super) buffers: Vec<Range<usize>>,
}

/// A record batch message whose body has these columns.
pub(super) fn batch(
    rows: usize,
    columns: &[ColumnBuffers],
    codec: Option<CompressionType>,
    about: &[(&str, String)],
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let header = flat_batch(&mut builder, rows, columns, codec).as_union_value();
    message(builder, MessageHeader::RecordBatch, header, body_length(columns), 0, about)
}

/// The dictionary batch message of a dictionary.
pub(super) fn dictionary(id: i64, values: usize, column: ColumnBuffers, codec: Option<CompressionType>) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let columns = [column];
    let data = Some(flat_batch(&mut builder, values, &columns, codec));
    let header = DictionaryBatch::create(&mut builder, &DictionaryBatchArgs { id, data, isDelta: false });
    message(builder, MessageHeader::DictionaryBatch, header.as_union_value(), body_length(&columns), 0, &[])
}

/// The footer of a file.
pub(super) fn footer(schema: &Schema, dictionaries: &[Block], batches: &[Block], about: &[(&str, String)]) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let schema = Some(flat_schema(&mut builder, schema, &coded_in_files(schema), DECIMAL_BITS));
    let dictionaries = Some(builder.create_vector(dictionaries));
    let batches = Some(builder.create_vector(batches));
    let custom_metadata = flat_about(&mut builder, about);
    let footer =
        FooterArgs { version: MetadataVersion::V5, schema, dictionaries, recordBatches: batches, custom_metadata };
    let footer = Footer::create(&mut builder, &footer);
    builder.finish(footer, None);
    builder.finished_data().to_vec()
}

fn body_length(columns: &[ColumnBuffers]) -> usize {
    let last = columns.last().and_then(|column| column.buffers.last());
    last.map_or(0, |last| last.end.next_multiple_of(ALIGNMENT))
}

fn message(
    mut builder: FlatBufferBuilder<'_>,
    header_type: MessageHeader,
    header: WIPOffset<UnionWIPOffset>,
    body: usize,
    start: usize,
    about: &[(&str, String)],
) -> Vec<u8> {
    let custom_metadata = flat_about(&mut builder, about);
    let message = MessageArgs {
        version: MetadataVersion::V5,
        header_type,
        header: Some(header),
        bodyLength: body as i64,
        custom_metadata,
    };
    let message = Message::create(&mut builder, &message);
    builder.finish(message, None);
    let metadata = builder.finished_data();
    let prefix = CONTINUATION.len() + 4;
    let padding = padding(start + prefix + metadata.len());
    let mut bytes = CONTINUATION.to_vec();
    bytes.extend_from_slice(&((metadata.len() + padding) as u32).to_le_bytes());
    bytes.extend_from_slice(metadata);
    bytes.resize(bytes.len() + padding, 0);
    bytes
}

/// Key-value metadata, if there are any.
fn flat_about<'a>(builder: &mut FlatBufferBuilder<'a>, about: &[(&str, String)]) -> Option<WIPOffset<About<'a>>> {
    let about: Vec<_> = about
        .iter()
        .map(|(key, value)| {
            let (key, value) = (Some(builder.create_string(key)), Some(builder.create_string(value)));
            KeyValue::create(builder, &KeyValueArgs { key, value })
        })
        .collect();
    (!about.is_empty()).then(|| builder.create_vector(&about))
}

fn flat_batch<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    rows: usize,
    columns: &[ColumnBuffers],
    codec: Option<CompressionType>,
) -> WIPOffset<RecordBatch<'a>> {
    let nodes: Vec<_> = columns.iter().map(|column| FieldNode::new(rows as i64, column.nulls as i64)).collect();
    let nodes = Some(builder.create_vector(&nodes));
    let buffers = columns.iter().flat_map(|column| &column.buffers);
    let buffers: Vec<_> = buffers.map(|buffer| Buffer::new(buffer.start as i64, buffer.len() as i64)).collect();
    let buffers = Some(builder.create_vector(&buffers));
    let compression = codec.map(|codec| {
        BodyCompression::create(builder, &BodyCompressionArgs { codec, method: BodyCompressionMethod::BUFFER })
    });
    let batch = RecordBatchArgs { length: rows as i64, nodes, buffers, compression, variadicBufferCounts: None };
    RecordBatch::create(builder, &batch)
}

fn flat_schema<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    schema: &Schema,
    coded: &[bool],
    decimal_bits: i32,
) -> WIPOffset<FlatSchema<'a>> {
    let mut dictionaries = 0..;
    let mut field = |field: &TableField, is_coded: bool| {
        let dictionary = if is_coded { dictionaries.next() } else { None };
        flat_field(builder, field, dictionary, decimal_bits)
    };
    let fields: Vec<_> = schema.fields().iter().zip(coded).map(|(it, &is_coded)| field(it, is_coded)).collect();
    let fields = Some(builder.create_vector(&fields));
    let metadata: Vec<_> = metadata_of(schema).collect();
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let custom_metadata = flat_about(builder, &metadata);
    FlatSchema::create(builder, &SchemaArgs { fields, custom_metadata, ..SchemaArgs::default() })
}

fn flat_field<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    field: &TableField,
    dictionary: Option<i64>,
    decimal_bits: i32,
) -> WIPOffset<Field<'a>> {
    let name = Some(builder.create_string(&field.name));
    let (type_type, type_) = flat_type(builder, field.logical_type, decimal_bits);
    let dictionary = dictionary.map(|id| {
        let index = Int::create(builder, &IntArgs { bitWidth: 32, is_signed: true });
        let encoding = DictionaryEncodingArgs { id, indexType: Some(index), ..DictionaryEncodingArgs::default() };
        DictionaryEncoding::create(builder, &encoding)
    });
    // Some readers expect an empty list of children rather than none.
    let children = Some(builder.create_vector::<WIPOffset<Field<'_>>>(&[]));
    let extension = [(EXTENSION, UUID.to_owned()), (EXTENSION_METADATA, String::new())];
    let is_extension = field.logical_type == LogicalType::Uuid;
    let custom_metadata = flat_about(builder, if is_extension { &extension } else { &[] });
    let nullable = field.nullable;
    let field = FieldArgs { name, nullable, type_type, type_: Some(type_), dictionary, children, custom_metadata };
    Field::create(builder, &field)
}

fn flat_type<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    logical_type: LogicalType,
    decimal_bits: i32,
) -> (Type, WIPOffset<UnionWIPOffset>) {
    let mut int =
        |bits, is_signed| (Type::Int, Int::create(builder, &IntArgs { bitWidth: bits, is_signed }).as_union_value());
    match logical_type {
        LogicalType::Int8 => int(8, true),
        LogicalType::Int16 => int(16, true),
        LogicalType::Int32 => int(32, true),
        LogicalType::Int64 => int(64, true),
        LogicalType::UInt64 => int(64, false),
        LogicalType::Bool => (Type::Bool, Bool::create(builder, &BoolArgs {}).as_union_value()),
        LogicalType::Decimal { precision, scale } => {
            let bits = if precision <= LogicalType::MAX_PRECISION_64 { decimal_bits } else { DECIMAL_BITS };
            let decimal = DecimalArgs { precision: precision.into(), scale: scale.into(), bitWidth: bits };
            (Type::Decimal, Decimal::create(builder, &decimal).as_union_value())
        }
        LogicalType::Float32 => {
            let single = FloatingPointArgs { precision: Precision::SINGLE };
            (Type::FloatingPoint, FloatingPoint::create(builder, &single).as_union_value())
        }
        LogicalType::Float64 => {
            let double = FloatingPointArgs { precision: Precision::DOUBLE };
            (Type::FloatingPoint, FloatingPoint::create(builder, &double).as_union_value())
        }
        LogicalType::Date => (Type::Date, Date::create(builder, &DateArgs { unit: DateUnit::DAY }).as_union_value()),
        LogicalType::Time { unit } => {
            let bits = if unit <= TimeUnit::Millisecond { 32 } else { 64 };
            let time = TimeArgs { unit: flat_unit(unit), bitWidth: bits };
            (Type::Time, Time::create(builder, &time).as_union_value())
        }
        LogicalType::Timestamp { unit, zone } => {
            let timezone = zone.then(|| builder.create_string("UTC"));
            let timestamp = TimestampArgs { unit: flat_unit(unit), timezone };
            (Type::Timestamp, Timestamp::create(builder, &timestamp).as_union_value())
        }
        LogicalType::String => (Type::Utf8, Utf8::create(builder, &Utf8Args {}).as_union_value()),
        LogicalType::Binary => (Type::Binary, Binary::create(builder, &BinaryArgs {}).as_union_value()),
        LogicalType::Uuid => {
            let bytes = FixedSizeBinaryArgs { byteWidth: uuid::BYTES as i32 };
            (Type::FixedSizeBinary, FixedSizeBinary::create(builder, &bytes).as_union_value())
        }
    }
}

fn flat_unit(unit: TimeUnit) -> FlatUnit {
    match unit {
        TimeUnit::Second => FlatUnit::SECOND,
        TimeUnit::Millisecond => FlatUnit::MILLISECOND,
        TimeUnit::Microsecond => FlatUnit::MICROSECOND,
        TimeUnit::Nanosecond => FlatUnit::NANOSECOND,
    }
}
