//! The messages that are the same for all tables, as in `schemas/table.proto`, and the descriptor of the row message,
//! which differs.

use super::rows::FieldKind;
use brc_core::{LogicalType, Schema};
use prost::Message;

/// The header of a file with its columns.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Header {
    #[prost(fixed32, tag = "1")]
    pub(super) version: u32,
    /// The columns, including the scales of decimals.
    #[prost(string, tag = "2")]
    pub(super) schema: String,
    /// CRC-32C of the schema.
    #[prost(fixed32, tag = "3")]
    pub(super) checksum: u32,
    /// The descriptor of the rows, for programs without a schema of this table.
    #[prost(message, optional, tag = "4")]
    pub(super) rows: Option<FileDescriptor>,
}

/// The header before the rows of a frame. All fields are always present, so that all headers have the same length.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Frame {
    #[prost(fixed32, required, tag = "1")]
    pub(super) length: u32,
    #[prost(fixed32, required, tag = "2")]
    pub(super) rows: u32,
    #[prost(fixed32, required, tag = "3")]
    pub(super) checksum: u32,
    #[prost(fixed32, required, tag = "4")]
    pub(super) own_checksum: u32,
}

/// The required subset of `google.protobuf.FileDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FileDescriptor {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    package: Option<String>,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<Descriptor>,
    #[prost(string, optional, tag = "12")]
    syntax: Option<String>,
}

/// `google.protobuf.DescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct Descriptor {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    fields: Vec<FieldDescriptor>,
    /// One synthetic oneof per optional field, as proto3 requires.
    #[prost(message, repeated, tag = "8")]
    oneofs: Vec<OneofDescriptor>,
}

/// `google.protobuf.OneofDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct OneofDescriptor {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
}

/// `google.protobuf.FieldDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
struct FieldDescriptor {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(int32, optional, tag = "3")]
    number: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    label: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    kind: Option<i32>,
    /// The index of its oneof.
    #[prost(int32, optional, tag = "9")]
    oneof: Option<i32>,
    #[prost(bool, optional, tag = "17")]
    proto3_optional: Option<bool>,
}

/// `google.protobuf.FieldDescriptorProto.Label.LABEL_OPTIONAL`.
const OPTIONAL: i32 = 1;

/// The number of a field type in `google.protobuf.FieldDescriptorProto.Type`.
fn type_number(logical_type: LogicalType) -> i32 {
    match (FieldKind::of(logical_type), logical_type) {
        (FieldKind::Double, _) => 1,
        (FieldKind::Float, _) => 2,
        (FieldKind::Varint, LogicalType::Bool) => 8,
        (FieldKind::Varint, _) => 4,
        (FieldKind::Bytes | FieldKind::Wide | FieldKind::Uuid, _) => 12,
        (FieldKind::Zigzag, _) => 18,
    }
}

/// Describes the message of a row: a column's field number is its position, from 1.
pub(super) fn describe(schema: &Schema) -> FileDescriptor {
    let names = field_names(schema);
    let (mut fields, mut oneofs) = (Vec::new(), Vec::new());
    for (index, (name, column)) in names.into_iter().zip(schema.fields()).enumerate() {
        let oneof = column.nullable.then_some(oneofs.len() as i32);
        if column.nullable {
            oneofs.push(OneofDescriptor { name: Some(format!("_{name}")) });
        }
        fields.push(FieldDescriptor {
            name: Some(name),
            number: Some(index as i32 + 1),
            label: Some(OPTIONAL),
            kind: Some(type_number(column.logical_type)),
            oneof,
            proto3_optional: column.nullable.then_some(true),
        });
    }
    let row = Descriptor { name: Some("Row".to_owned()), fields, oneofs };
    FileDescriptor {
        name: Some("rows.proto".to_owned()),
        package: Some("brc.rows".to_owned()),
        messages: vec![row],
        syntax: Some("proto3".to_owned()),
    }
}

/// The columns' names if they are valid as field names; otherwise their positions. Field names that differ only in
/// case or underscores would be equal in JSON, which is not allowed.
fn field_names(schema: &Schema) -> Vec<String> {
    let mut taken = std::collections::HashSet::new();
    let mut name = |(index, name): (usize, &str)| {
        let identifier = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let plain = name.replace('_', "").to_ascii_lowercase();
        let reserved = plain.starts_with("column");
        if identifier && !reserved && taken.insert(plain) { name.to_owned() } else { format!("column_{}", index + 1) }
    };
    schema.fields().iter().map(|field| field.name.as_str()).enumerate().map(&mut name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names_are_unique() {
        let schema = Schema::parse("a:int,A:int,a_:string,São:string,1x:int,_y:int,column_2:int,b_c:int").unwrap();
        let names = ["a", "column_2", "column_3", "column_4", "column_5", "column_6", "column_7", "b_c"];
        assert_eq!(field_names(&schema), names);
    }
}
