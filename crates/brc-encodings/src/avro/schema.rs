//! Schemas as JSON: parses a file's, and writes a table's.

use crate::fault::Fault;
use brc_core::names::unique_names;
use brc_core::{Field, LogicalType, Schema, TimeUnit, UnsupportedColumn};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// How values are encoded.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Null,
    Bool,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Enum(Vec<String>),
    List(Box<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Record(Vec<Type>),
    /// A named type, by its position in [`FileSchema::named`].
    Named(usize),
}

/// The schema of a file.
#[derive(Debug, Default)]
pub(super) struct FileSchema {
    pub(super) columns: Vec<FileColumn>,
    /// The named types.
    pub(super) named: Vec<Type>,
}

/// A column of a file.
#[derive(Debug)]
pub(super) struct FileColumn {
    pub(super) name: String,
    pub(super) stored: Type,
    /// Its type in a table, or its actual type, with an article, if a table cannot hold it.
    pub(super) logical_type: Result<LogicalType, String>,
}

impl FileColumn {
    pub(super) fn is_nullable(&self) -> bool {
        match &self.stored {
            Type::Null => true,
            Type::Union(branches) => branches.contains(&Type::Null),
            _ => false,
        }
    }
}

impl FileSchema {
    /// Parses a schema.
    ///
    /// # Errors
    /// If it is malformed, or does not describe a table.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let root: Value = serde_json::from_str(text).map_err(|error| Fault::corrupt(format!("its schema: {error}")))?;
        let mut parser = Parser::default();
        let is_record = |root: &Value| matches!(root["type"].as_str(), Some("record" | "error"));
        let record = root.as_object().filter(|_| is_record(&root));
        let record =
            record.ok_or_else(|| Fault::unsupported("its values are not records, as the rows of a table are"))?;
        let namespace = parser.define(record, "", Type::Null);
        let fields =
            record.get("fields").and_then(Value::as_array).ok_or_else(|| malformed("a record without fields"))?;
        let mut columns = Vec::with_capacity(fields.len());
        for field in fields {
            let name = field["name"].as_str().ok_or_else(|| malformed("a field without a name"))?.to_owned();
            let json = &field["type"];
            let stored = parser.take(json, &namespace)?;
            let logical_type = parser.logical_type(json, &stored);
            columns.push(FileColumn { name, stored, logical_type });
        }
        // A row nested in itself, which is skipped, refers to the row's type.
        if let Some(root) = parser.named.first_mut() {
            *root = Type::Record(columns.iter().map(|column| column.stored.clone()).collect());
        }
        Ok(Self { columns, named: parser.named })
    }

    /// The supported columns, and the unsupported ones.
    pub(super) fn split(&self) -> (Vec<Field>, Vec<UnsupportedColumn>) {
        let (mut supported, mut unsupported_columns) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let (name, nullable) = (column.name.clone(), column.is_nullable());
            match &column.logical_type {
                Ok(logical_type) => supported.push(Field { name, logical_type: *logical_type, nullable }),
                Err(kind) => unsupported_columns.push(UnsupportedColumn { name, kind: kind.clone() }),
            }
        }
        (supported, unsupported_columns)
    }
}

fn malformed(what: &str) -> Fault {
    Fault::corrupt(format!("its schema has {what}"))
}

#[derive(Default)]
struct Parser {
    named: Vec<Type>,
    /// The positions of the named types by full name.
    names: HashMap<String, usize>,
    /// The logical type of each named type, as far as its definition determines it.
    meanings: Vec<Result<LogicalType, String>>,
}

impl Parser {
    /// Registers a type under the name in its definition, and returns the namespace within it.
    fn define(&mut self, definition: &Map<String, Value>, namespace: &str, of: Type) -> String {
        let own = definition.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
        let name = definition.get("name").and_then(Value::as_str).unwrap_or_default();
        let full = full_name(name, own);
        let within = full.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_owned();
        self.names.insert(full, self.named.len());
        self.named.push(of);
        self.meanings.push(Err("a struct".to_owned()));
        within
    }

    /// Parses how values of a type are encoded.
    fn take(&mut self, json: &Value, namespace: &str) -> Result<Type, Fault> {
        match json {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                Ok(Type::Union(branches.iter().map(|branch| self.take(branch, namespace)).collect::<Result<_, _>>()?))
            }
            Value::Object(object) => self.defined(object, namespace),
            Value::Null | Value::Bool(_) | Value::Number(_) => Err(malformed("a type that is not valid")),
        }
    }

    fn by_name(&self, name: &str, namespace: &str) -> Result<Type, Fault> {
        Ok(match name {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::Text,
            name => {
                let index = self.names.get(&full_name(name, namespace)).or_else(|| self.names.get(name));
                Type::Named(*index.ok_or_else(|| malformed(&format!("the unknown type '{}'", name.escape_debug())))?)
            }
        })
    }

    fn defined(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<Type, Fault> {
        let kind = object.get("type").ok_or_else(|| malformed("a type that is not valid"))?;
        let part = |key: &str| object.get(key).ok_or_else(|| malformed(&format!("a type without {key}")));
        let index = self.named.len();
        match kind.as_str() {
            Some("array") => Ok(Type::List(Box::new(self.take(part("items")?, namespace)?))),
            Some("map") => Ok(Type::Map(Box::new(self.take(part("values")?, namespace)?))),
            Some("record" | "error") => {
                let within = self.define(object, namespace, Type::Null);
                let fields = part("fields")?.as_array().ok_or_else(|| malformed("a record without fields"))?;
                let fields = fields.iter().map(|field| self.take(&field["type"], &within)).collect::<Result<_, _>>()?;
                self.named[index] = Type::Record(fields);
                Ok(Type::Named(index))
            }
            Some("enum") => {
                let symbols = part("symbols")?.as_array().ok_or_else(|| malformed("an enum without symbols"))?;
                let symbols = symbols.iter().map(|symbol| symbol.as_str().unwrap_or_default().to_owned()).collect();
                self.define(object, namespace, Type::Enum(symbols));
                self.meanings[index] = Ok(LogicalType::String);
                Ok(Type::Named(index))
            }
            Some("fixed") => {
                let size = part("size")?.as_u64().and_then(|size| usize::try_from(size).ok());
                let stored = Type::Fixed(size.ok_or_else(|| malformed("a type without size"))?);
                self.meanings.push(annotated(object, &stored).unwrap_or(Ok(LogicalType::Binary)));
                let meaning = self.meanings.pop();
                self.define(object, namespace, stored);
                if let Some(meaning) = meaning {
                    self.meanings[index] = meaning;
                }
                Ok(Type::Named(index))
            }
            _ => self.take(kind, namespace),
        }
    }

    /// The logical type of values of a type.
    fn logical_type(&self, json: &Value, stored: &Type) -> Result<LogicalType, String> {
        if let Type::Union(branches) = stored {
            let mut valued = (0..).zip(branches).filter(|(_, branch)| **branch != Type::Null);
            return match (valued.next(), valued.next()) {
                (Some((index, branch)), None) => self.logical_type(&json[index as usize], branch),
                (None, None) => Ok(LogicalType::String),
                _ => Err("a union".to_owned()),
            };
        }
        if let Some(meaning) = json.as_object().and_then(|object| annotated(object, self.resolved(stored))) {
            return meaning;
        }
        match stored {
            Type::Null | Type::Text | Type::Enum(_) => Ok(LogicalType::String),
            Type::Bool => Ok(LogicalType::Bool),
            Type::Int => Ok(LogicalType::Int32),
            Type::Long => Ok(LogicalType::Int64),
            Type::Float => Ok(LogicalType::Float32),
            Type::Double => Ok(LogicalType::Float64),
            Type::Bytes | Type::Fixed(_) => Ok(LogicalType::Binary),
            Type::List(_) => Err("a list".to_owned()),
            Type::Map(_) => Err("a map".to_owned()),
            Type::Union(_) => Err("a union".to_owned()),
            Type::Record(_) => Err("a struct".to_owned()),
            Type::Named(index) => self.meanings[*index].clone(),
        }
    }

    fn resolved<'a>(&'a self, stored: &'a Type) -> &'a Type {
        if let Type::Named(index) = stored { &self.named[*index] } else { stored }
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
}

/// The logical type of an annotated type, if the annotation fits the type; other annotations are ignored.
fn annotated(object: &Map<String, Value>, stored: &Type) -> Option<Result<LogicalType, String>> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond};
    let number = |key: &str| object.get(key).and_then(Value::as_u64);
    let time = |unit| Some(Ok(LogicalType::Time { unit }));
    let timestamp = |unit, zone| Some(Ok(LogicalType::Timestamp { unit, zone }));
    match (object.get("logicalType")?.as_str()?, stored) {
        ("date", Type::Int) => Some(Ok(LogicalType::Date)),
        ("time-millis", Type::Int) => time(Millisecond),
        ("time-micros", Type::Long) => time(Microsecond),
        ("timestamp-millis", Type::Long) => timestamp(Millisecond, true),
        ("timestamp-micros", Type::Long) => timestamp(Microsecond, true),
        ("timestamp-nanos", Type::Long) => timestamp(Nanosecond, true),
        ("local-timestamp-millis", Type::Long) => timestamp(Millisecond, false),
        ("local-timestamp-micros", Type::Long) => timestamp(Microsecond, false),
        ("local-timestamp-nanos", Type::Long) => timestamp(Nanosecond, false),
        ("uuid", Type::Text | Type::Fixed(16)) => Some(Ok(LogicalType::Uuid)),
        ("duration", Type::Fixed(12)) => Some(Err("a duration".to_owned())),
        ("decimal", Type::Bytes | Type::Fixed(_)) => {
            let (precision, scale) = (number("precision")?, number("scale").unwrap_or(0));
            let most = u64::from(LogicalType::MAX_PRECISION);
            Some(if precision == 0 || scale > precision.min(most) {
                Err(format!("a decimal({precision},{scale})"))
            } else {
                Ok(LogicalType::Decimal { precision: precision.min(most) as u8, scale: scale as u8 })
            })
        }
        _ => None,
    }
}

/// The schema of a file for a table.
pub(super) fn write(schema: &Schema) -> String {
    let names = names(schema);
    let field = |(field, name): (&Field, String)| {
        let own = stored(field.logical_type);
        let of = if field.nullable { json!(["null", own]) } else { own };
        let doc = if field.name == name { Value::Null } else { json!(field.name) };
        let mut json = Map::new();
        json.insert("name".into(), name.into());
        json.insert("type".into(), of);
        if !doc.is_null() {
            json.insert("doc".into(), doc);
        }
        Value::Object(json)
    };
    let fields: Vec<_> = schema.fields().iter().zip(names).map(field).collect();
    json!({"type": "record", "name": "row", "fields": fields}).to_string()
}

/// Names valid in the format: unique, of ASCII letters, digits and underscores.
fn names(schema: &Schema) -> Vec<String> {
    let allowed = |name: &str| {
        let name: String = name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
        if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name }
    };
    let names: Vec<_> = schema.fields().iter().map(|field| allowed(&field.name)).collect();
    unique_names(names.iter().map(String::as_str))
}

/// How values of a type are encoded. Types that the format lacks are restored from the table's own schema.
fn stored(logical_type: LogicalType) -> Value {
    let annotated = |of: &str, what: &str| json!({"type": of, "logicalType": what});
    let decimal = |precision: u8, scale: u8| json!({"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale});
    match logical_type {
        LogicalType::Bool => json!("boolean"),
        LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 => json!("int"),
        LogicalType::Int64 => json!("long"),
        LogicalType::UInt64 => decimal(20, 0),
        LogicalType::Decimal { precision, scale } => decimal(precision, scale),
        LogicalType::Float32 => json!("float"),
        LogicalType::Float64 => json!("double"),
        LogicalType::Date => annotated("int", "date"),
        LogicalType::Time { unit: TimeUnit::Second | TimeUnit::Millisecond } => annotated("int", "time-millis"),
        LogicalType::Time { unit: TimeUnit::Microsecond } => annotated("long", "time-micros"),
        LogicalType::Time { unit: TimeUnit::Nanosecond } => json!("long"),
        LogicalType::Timestamp { unit, zone } => {
            let unit = match unit {
                TimeUnit::Second | TimeUnit::Millisecond => "millis",
                TimeUnit::Microsecond => "micros",
                TimeUnit::Nanosecond => "nanos",
            };
            annotated("long", &format!("{}timestamp-{unit}", if zone { "" } else { "local-" }))
        }
        LogicalType::String => json!("string"),
        LogicalType::Binary => json!("bytes"),
        LogicalType::Uuid => annotated("string", "uuid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(schema: &str) -> String {
        let schema = FileSchema::parse(schema).unwrap();
        let (supported, unsupported_columns) = schema.split();
        let supported =
            supported.iter().map(|field| format!("{} {} {}", field.name, field.logical_type, field.nullable));
        supported.chain(unsupported_columns.iter().map(ToString::to_string)).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn columns_of_other_programs() {
        let columns = r#"{"type":"record","name":"a.r","fields":[
            {"name":"e","type":["null",{"type":"enum","name":"E","symbols":["x"]}]},{"name":"e2","type":"E"},
            {"name":"f","type":{"type":"fixed","name":"F","size":16,"logicalType":"uuid"}},{"name":"f2","type":"a.F"},
            {"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
            {"name":"t","type":[{"type":"long","logicalType":"timestamp-micros"},"null"]},
            {"name":"s","type":{"type":"string","avro.java.string":"String"}},
            {"name":"one","type":["string"]},{"name":"n","type":"null"},{"name":"u","type":["int","string"]},
            {"name":"l","type":{"type":"array","items":"long"}},{"name":"self","type":["null","r"]}]}"#;
        assert_eq!(
            shown(columns),
            "e string true; e2 string false; f uuid false; f2 uuid false; d decimal(9,2) false; t timestamp with zone true; \
             s string false; one string false; n string true; column 'u' is a union, which brc does not read; \
             column 'l' is a list, which brc does not read; column 'self' is a struct, which brc does not read"
        );
        for wrong in [
            "{",
            r#"{"type":"record","name":"r"}"#,
            r#"{"type":"record","name":"r","fields":[{"name":"x","type":"?"}]}"#,
        ] {
            assert!(matches!(FileSchema::parse(wrong), Err(Fault::Corrupt(_))), "{wrong}");
        }
        assert!(matches!(FileSchema::parse("\"string\""), Err(Fault::Unsupported(_))));
    }

    #[test]
    fn names_are_valid_in_the_format() {
        let schema = Schema::parse("a-b:int64,a_b:int64,1:string").unwrap();
        assert_eq!(names(&schema).join(" "), "a_b a_b_1 _1");
    }
}
