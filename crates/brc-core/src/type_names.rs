//! The names of types: ours, and those of SQL.

use crate::logical_type::{LogicalType, TimeUnit, TypeError};
use std::str::FromStr;

/// Names of SQL, and what they are here.
const SQL_NAMES: [(&str, &str); 30] = [
    ("int", "int64"),
    ("boolean", "bool"),
    ("tinyint", "int8"),
    ("smallint", "int16"),
    ("integer", "int64"),
    ("bigint", "int64"),
    ("ubigint", "uint64"),
    ("bigint unsigned", "uint64"),
    ("hugeint", "decimal(38,0)"),
    ("numeric", "decimal"),
    ("dec", "decimal"),
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
    ("character", "string"),
    ("nvarchar", "string"),
    ("blob", "binary"),
    ("bytea", "binary"),
    ("varbinary", "binary"),
    ("datetime", "timestamp"),
    ("timestamp_s", "timestamp(s)"),
    ("timestamp_ms", "timestamp(ms)"),
    ("timestamp_ns", "timestamp(ns)"),
];

/// The name of an instant in PostgreSQL.
const INSTANT: &str = "timestamptz";

/// A decimal without precision and scale, as in DuckDB.
const DECIMAL: LogicalType = LogicalType::Decimal { precision: LogicalType::MAX_PRECISION_64, scale: 3 };

/// What a single number after `decimal` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OneNumber {
    Precision,
    Scale,
}

impl FromStr for LogicalType {
    type Err = TypeError;

    /// Parses what [`Display`](std::fmt::Display) writes, `decimal(s)` for a precision of 18, and the names of SQL.
    fn from_str(text: &str) -> Result<Self, TypeError> {
        parse(text, OneNumber::Scale)
    }
}

impl LogicalType {
    /// The same in SQL, where a single number after `decimal` is the precision.
    ///
    /// # Errors
    /// If there is no such type.
    pub fn from_sql(text: &str) -> Result<Self, TypeError> {
        parse(text, OneNumber::Precision)
    }
}

/// The parts of a name.
struct Parts {
    /// The words before and after the arguments, without those about a zone.
    words: String,
    arguments: Vec<String>,
    zone: bool,
}

impl Parts {
    /// The parts of a name in lower case; `None` if it lacks its closing parenthesis.
    fn of(name: &str) -> Option<Self> {
        let (before, arguments, after) = match name.split_once('(') {
            Some((before, rest)) => {
                let (inside, after) = rest.split_once(')')?;
                (before, inside.split(',').map(|argument| argument.trim().to_owned()).collect(), after)
            }
            None => (name, Vec::new(), ""),
        };
        let words: Vec<&str> = before.split_whitespace().chain(after.split_whitespace()).collect();
        let (words, zone) = match words.as_slice() {
            [words @ .., "with", "time", "zone"] | [words @ .., "with", "zone"] => (words, true),
            [words @ ("time" | "timestamp"), "without", "time", "zone"] => (std::slice::from_ref(words), false),
            [INSTANT] => (["timestamp"].as_slice(), true),
            words => (words, false),
        };
        Some(Self { words: words.join(" "), arguments, zone })
    }
}

fn parse(text: &str, one_number: OneNumber) -> Result<LogicalType, TypeError> {
    let unknown = || TypeError::Unknown(text.to_owned());
    let Parts { words, arguments, zone } = Parts::of(&text.to_ascii_lowercase()).ok_or_else(unknown)?;
    let ours = SQL_NAMES.iter().find(|(name, _)| *name == words).map(|(_, ours)| *ours);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_length = |text: &&str| text.parse::<u32>().is_ok();
    match (ours, arguments.as_slice()) {
        _ if zone && words != "timestamp" => Err(unknown()),
        // A length is a remark.
        (Some(ours @ ("string" | "binary")), [length]) if is_length(length) => plain(ours).ok_or_else(unknown),
        (Some("decimal"), arguments) => decimal(arguments, OneNumber::Precision).unwrap_or_else(|| Err(unknown())),
        (Some("timestamp"), arguments) => clock("timestamp", arguments, false).ok_or_else(unknown),
        (Some(ours), []) => parse(ours, one_number),
        (Some(_), _) => Err(unknown()),
        (None, arguments) if words == "decimal" => decimal(arguments, one_number).unwrap_or_else(|| Err(unknown())),
        (None, []) => plain(&words).or_else(|| clock(&words, &[], zone)).ok_or_else(unknown),
        (None, arguments) => clock(&words, arguments, zone).ok_or_else(unknown),
    }
}

/// The type of one of our own names without arguments.
fn plain(name: &str) -> Option<LogicalType> {
    Some(match name {
        "bool" => LogicalType::Bool,
        "int8" => LogicalType::Int8,
        "int16" => LogicalType::Int16,
        "int32" => LogicalType::Int32,
        "int64" => LogicalType::Int64,
        "uint64" => LogicalType::UInt64,
        "float32" => LogicalType::Float32,
        "float64" => LogicalType::Float64,
        "date" => LogicalType::Date,
        "string" => LogicalType::String,
        "binary" => LogicalType::Binary,
        "uuid" => LogicalType::Uuid,
        _ => return None,
    })
}

/// A time or timestamp, with its unit or the number of its digits.
fn clock(name: &str, arguments: &[&str], zone: bool) -> Option<LogicalType> {
    let is_unit = |unit: &TimeUnit, text: &str| unit.symbol() == text || unit.digits().to_string() == text;
    let unit = match arguments {
        [] => TimeUnit::Microsecond,
        [text] => TimeUnit::ALL.into_iter().find(|unit| is_unit(unit, text))?,
        _ => return None,
    };
    match name {
        "time" => Some(LogicalType::Time { unit }),
        "timestamp" => Some(LogicalType::Timestamp { unit, zone }),
        _ => None,
    }
}

/// A decimal; `None` if the arguments are not one or two numbers.
fn decimal(arguments: &[&str], one_number: OneNumber) -> Option<Result<LogicalType, TypeError>> {
    let number = |text: &str| text.parse::<u8>().ok();
    let (precision, scale) = match (arguments, one_number) {
        ([], _) => return Some(Ok(DECIMAL)),
        ([precision], OneNumber::Precision) => (number(precision)?, 0),
        ([scale], OneNumber::Scale) => {
            let scale = number(scale)?;
            (LogicalType::MAX_PRECISION_64.max(scale), scale)
        }
        ([precision, scale], _) => (number(precision)?, number(scale)?),
        _ => return None,
    };
    let is_possible = (1..=LogicalType::MAX_PRECISION).contains(&precision) && scale <= precision;
    Some(if is_possible {
        Ok(LogicalType::Decimal { precision, scale })
    } else {
        Err(TypeError::Decimal { precision, scale })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_of_sql() {
        for (name, ours) in [
            ("bigint", "int64"),
            ("Integer", "int64"),
            ("smallint", "int16"),
            ("TINYINT", "int8"),
            ("bigint unsigned", "uint64"),
            ("hugeint", "decimal(38,0)"),
            ("double", "float64"),
            ("double  precision", "float64"),
            ("float", "float64"),
            ("real", "float32"),
            ("boolean", "bool"),
            ("text", "string"),
            ("varchar", "string"),
            ("varchar(10)", "string"),
            ("character varying ( 10 )", "string"),
            ("blob", "binary"),
            ("numeric(10, 2)", "decimal(10,2)"),
            ("numeric(10)", "decimal(10,0)"),
            ("dec(10)", "decimal(10,0)"),
            ("numeric", "decimal(18,3)"),
            ("decimal", "decimal(18,3)"),
            ("timestamptz", "timestamp with zone"),
            ("timestamptz(3)", "timestamp(ms) with zone"),
            ("timestamp with time zone", "timestamp with zone"),
            ("timestamp(0) with time zone", "timestamp(s) with zone"),
            ("timestamp(9) without time zone", "timestamp(ns)"),
            ("time(3)", "time(ms)"),
            ("datetime", "timestamp"),
            ("timestamp_ns", "timestamp(ns)"),
        ] {
            for parsed in [name.parse::<LogicalType>(), LogicalType::from_sql(name)] {
                assert_eq!(parsed.map(|parsed| parsed.to_string()), Ok(ours.to_owned()), "{name}");
            }
        }
        for (_, ours) in SQL_NAMES {
            assert!(ours.parse::<LogicalType>().is_ok(), "{ours}");
        }
    }

    #[test]
    fn one_number_of_a_decimal_is_its_scale_except_in_sql() {
        assert_eq!("decimal(2)".parse(), Ok(LogicalType::decimal(2)));
        assert_eq!(LogicalType::from_sql("decimal(2)"), Ok(LogicalType::Decimal { precision: 2, scale: 0 }));
    }

    #[test]
    fn other_names_are_refused() {
        for name in
            ["float(24)", "varchar(x)", "varchar(1,2)", "time with time zone", "timestamptz(4)", "int with zone"]
        {
            assert_eq!(name.parse::<LogicalType>(), Err(TypeError::Unknown(name.to_owned())));
        }
    }
}
