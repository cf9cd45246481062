//! The names of types: those of SQL besides our own.

use brc_core::LogicalType;
use sqlparser::ast::DataType;

/// Words of SQL, and what they are here.
const NAMES: [(&str, &str); 27] = [
    ("boolean", "bool"),
    ("tinyint", "int8"),
    ("smallint", "int16"),
    ("integer", "int64"),
    ("bigint", "int64"),
    ("ubigint", "uint64"),
    ("bigint unsigned", "uint64"),
    ("hugeint", "decimal(38,0)"),
    ("decimal", "decimal(18,3)"),
    ("numeric", "decimal(18,3)"),
    ("dec", "decimal(18,3)"),
    ("real", "float32"),
    ("float", "float64"),
    ("float4", "float32"),
    ("float8", "float64"),
    ("double", "float64"),
    ("double precision", "float64"),
    ("varchar", "string"),
    ("character varying", "string"),
    ("text", "string"),
    ("char", "string"),
    ("blob", "binary"),
    ("bytea", "binary"),
    ("varbinary", "binary"),
    ("datetime", "timestamp"),
    ("timestamptz", "timestamp with zone"),
    ("timestamp with time zone", "timestamp with zone"),
];

/// The type that is meant.
pub(super) fn logical_type(data_type: &DataType) -> Option<LogicalType> {
    let text = data_type.to_string().to_lowercase();
    if let Some((_, ours)) = NAMES.iter().find(|(name, _)| *name == text) {
        return ours.parse().ok();
    }
    for (digits, symbol) in [(0, "s"), (3, "ms"), (6, "us"), (9, "ns")] {
        for word in ["time", "timestamp"] {
            if text == format!("{word}({digits})") {
                return format!("{word}({symbol})").parse().ok();
            }
        }
    }
    let exact =
        text.strip_prefix("numeric").or(text.strip_prefix("dec(").map(|rest| &text[text.len() - rest.len() - 1..]));
    match exact {
        Some(arguments) => format!("decimal{arguments}").parse().ok(),
        None => text.parse().ok(),
    }
}
