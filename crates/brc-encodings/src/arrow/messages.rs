//! The metadata of an arrow file, as flatbuffers: what stands before the bytes of columns, and the footer.

use crate::columnar::DIGITS;
use arrow_ipc::{
    Block, BodyCompression, BodyCompressionArgs, BodyCompressionMethod, Buffer, CompressionType, Decimal, DecimalArgs,
    DictionaryBatch, DictionaryBatchArgs, DictionaryEncoding, DictionaryEncodingArgs, Field, FieldArgs, FieldNode,
    Footer, FooterArgs, Int, IntArgs, KeyValue, KeyValueArgs, Message, MessageArgs, MessageHeader, MetadataVersion,
    RecordBatch, RecordBatchArgs, Schema as FlatSchema, SchemaArgs, Type, Utf8, Utf8Args,
};
use brc_core::{LogicalType, Schema};
use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, UnionWIPOffset, Vector, WIPOffset};
use std::ops::Range;

/// Everything begins at a multiple of this, so that readers can use it where it lies.
pub(super) const ALIGNMENT: usize = 64;

type About<'a> = Vector<'a, ForwardsUOffset<KeyValue<'a>>>;

/// The value of a key, if it is there.
pub(super) fn value_of<'a>(about: Option<About<'a>>, key: &str) -> Option<&'a str> {
    about?.iter().find(|about| about.key() == Some(key))?.value()
}

/// What stands before the length of a message.
pub(super) const CONTINUATION: [u8; 4] = [0xff; 4];

/// The bytes up to the next multiple of [`ALIGNMENT`].
pub(super) fn padding(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT) - length
}

/// The message that begins a file, behind so many bytes.
pub(super) fn schema(schema: &Schema, behind: usize) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let header = flat_schema(&mut builder, schema, &[]).as_union_value();
    message(builder, MessageHeader::Schema, header, 0, behind, &[])
}

/// A message whose body has one of these buffers for each column.
pub(super) fn batch(
    rows: usize,
    buffers: &[Range<usize>],
    codec: Option<CompressionType>,
    about: &[(&str, String)],
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let header = flat_batch(&mut builder, rows, buffers.len(), buffers, codec).as_union_value();
    message(builder, MessageHeader::RecordBatch, header, body_length(buffers), 0, about)
}

/// The message of the dictionary of that number.
pub(super) fn dictionary(id: i64, values: usize, buffers: &[Range<usize>], codec: Option<CompressionType>) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let data = Some(flat_batch(&mut builder, values, 1, buffers, codec));
    let header = DictionaryBatch::create(&mut builder, &DictionaryBatchArgs { id, data, isDelta: false });
    message(builder, MessageHeader::DictionaryBatch, header.as_union_value(), body_length(buffers), 0, &[])
}

/// The footer of a file; `as_integers` tells which decimals are integers for others.
pub(super) fn footer(
    schema: &Schema,
    as_integers: &[bool],
    dictionaries: &[Block],
    batches: &[Block],
    about: &[(&str, String)],
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let schema = Some(flat_schema(&mut builder, schema, as_integers));
    let dictionaries = Some(builder.create_vector(dictionaries));
    let batches = Some(builder.create_vector(batches));
    let custom_metadata = flat_about(&mut builder, about);
    let footer =
        FooterArgs { version: MetadataVersion::V5, schema, dictionaries, recordBatches: batches, custom_metadata };
    let footer = Footer::create(&mut builder, &footer);
    builder.finish(footer, None);
    builder.finished_data().to_vec()
}

fn body_length(buffers: &[Range<usize>]) -> usize {
    buffers.last().map_or(0, |last| last.end.next_multiple_of(ALIGNMENT))
}

fn message(
    mut builder: FlatBufferBuilder<'_>,
    header_type: MessageHeader,
    header: WIPOffset<UnionWIPOffset>,
    body: usize,
    behind: usize,
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
    let padding = padding(behind + prefix + metadata.len());
    let mut bytes = CONTINUATION.to_vec();
    bytes.extend_from_slice(&((metadata.len() + padding) as u32).to_le_bytes());
    bytes.extend_from_slice(metadata);
    bytes.resize(bytes.len() + padding, 0);
    bytes
}

/// Keys and values for whoever knows them, if there are any.
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
    columns: usize,
    buffers: &[Range<usize>],
    codec: Option<CompressionType>,
) -> WIPOffset<RecordBatch<'a>> {
    let nodes = Some(builder.create_vector(&vec![FieldNode::new(rows as i64, 0); columns]));
    let mut flat = Vec::new();
    for column in buffers.chunks((buffers.len() / columns.max(1)).max(1)) {
        // There are no NULLs, so the buffer that would tell them is empty.
        flat.push(Buffer::new(column.first().map_or(0, |first| first.start) as i64, 0));
        flat.extend(column.iter().map(|buffer| Buffer::new(buffer.start as i64, buffer.len() as i64)));
    }
    let flat = Some(builder.create_vector(&flat));
    let compression = codec.map(|codec| {
        BodyCompression::create(builder, &BodyCompressionArgs { codec, method: BodyCompressionMethod::BUFFER })
    });
    let batch = RecordBatchArgs { length: rows as i64, nodes, buffers: flat, compression, variadicBufferCounts: None };
    RecordBatch::create(builder, &batch)
}

fn flat_schema<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    schema: &Schema,
    as_integers: &[bool],
) -> WIPOffset<FlatSchema<'a>> {
    let mut strings = 0..;
    let fields: Vec<_> = schema
        .fields()
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let id = if field.logical_type == LogicalType::String { strings.next() } else { None };
            let logical_type = match as_integers.get(index) {
                Some(true) => LogicalType::Int64,
                _ => field.logical_type,
            };
            flat_field(builder, &field.name, logical_type, id)
        })
        .collect();
    let fields = Some(builder.create_vector(&fields));
    FlatSchema::create(builder, &SchemaArgs { fields, ..SchemaArgs::default() })
}

fn flat_field<'a>(
    builder: &mut FlatBufferBuilder<'a>,
    name: &str,
    logical_type: LogicalType,
    dictionary: Option<i64>,
) -> WIPOffset<Field<'a>> {
    let int =
        |builder: &mut FlatBufferBuilder<'a>, bits| Int::create(builder, &IntArgs { bitWidth: bits, is_signed: true });
    let name = Some(builder.create_string(name));
    let (type_type, type_) = match logical_type {
        LogicalType::String => (Type::Utf8, Utf8::create(builder, &Utf8Args {}).as_union_value()),
        LogicalType::Decimal { scale, .. } if scale > 0 => {
            let decimal = DecimalArgs { precision: DIGITS, scale: scale.into(), bitWidth: 64 };
            (Type::Decimal, Decimal::create(builder, &decimal).as_union_value())
        }
        _ => (Type::Int, int(builder, 64).as_union_value()),
    };
    let dictionary = dictionary.map(|id| {
        let encoding =
            DictionaryEncodingArgs { id, indexType: Some(int(builder, 32)), ..DictionaryEncodingArgs::default() };
        DictionaryEncoding::create(builder, &encoding)
    });
    // Some readers expect an empty list of children rather than none.
    let children = Some(builder.create_vector::<WIPOffset<Field<'_>>>(&[]));
    let field =
        FieldArgs { name, nullable: false, type_type, type_: Some(type_), dictionary, children, custom_metadata: None };
    Field::create(builder, &field)
}
