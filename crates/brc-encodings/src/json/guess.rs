//! What a file's first lines tell of its columns.

use super::number;
use super::row::{Kind, is_space, members};
use crate::input::Input;
use crate::text::{BYTE_ORDER_MARK, LONGEST_LINE, strip_carriage_return};
use brc_core::{Error, Field, LogicalType, Result, Schema};
use std::collections::HashSet;
use std::path::Path;

/// Whether some first bytes begin an object with a key or an empty one.
pub(super) fn is_json(prefix: &[u8]) -> bool {
    let mut bytes = text(prefix).iter().filter(|byte| !is_space(**byte));
    bytes.next() == Some(&b'{') && matches!(bytes.next(), Some(b'"' | b'}'))
}

/// Why a line tells no columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// It is longer than a line may be.
    TooLong,
    /// A column has a value that no column can have.
    Strange {
        /// Its name.
        column: String,
        /// What the value is.
        found: &'static str,
    },
    /// It is no object.
    NoObject,
}

impl Untold {
    pub(super) fn error(self, path: &Path) -> Error {
        let file = path.display();
        match self {
            Self::TooLong => Error::Usage(format!(
                "{file}: the first line is longer than {LONGEST_LINE} bytes, so it tells no columns; name them with \
                 --schema"
            )),
            Self::Strange { column, found } => {
                let reason = format!("column '{column}' has {found}; columns are of strings, numbers or booleans");
                Error::unsupported(path, reason)
            }
            Self::NoObject => Error::unsupported(path, "the first line is no JSON object"),
        }
    }
}

/// The first bytes of a source, of which the first line is whole unless it is too long.
pub(super) fn first_lines(input: &mut Input) -> Result<&[u8]> {
    if !input.prefix.contains(&b'\n') {
        input.extend_prefix(LONGEST_LINE + 2)?;
    }
    Ok(&input.prefix)
}

/// The columns of the first line that is a row of any table, of types that hold what all the first lines have, and with
/// nulls if one of them has a null there or lacks the column. If there is no object, the table of the One Billion Row
/// Challenge, so that what is wrong with the rows can be told.
///
/// # Errors
/// Why no table has such rows.
pub(super) fn schema(prefix: &[u8]) -> Result<Schema, Untold> {
    if prefix.len() > LONGEST_LINE && !prefix.contains(&b'\n') {
        return Err(Untold::TooLong);
    }
    let lines = || text(prefix).split(|&byte| byte == b'\n').map(strip_carriage_return);
    let of_row = || lines().find_map(|line| columns(line).ok().filter(|columns| table(columns).is_some()));
    // Where every row names a column twice, that is what is wrong with them, and not the other columns.
    let of_first_names = || {
        let columns = |line| columns(line).ok().map(without_repeated);
        lines().find_map(|line| columns(line).filter(|columns| table(columns).is_some()))
    };
    let Some(mut guesses) = of_row().or_else(of_first_names) else {
        let strange = lines().find_map(|line| columns(line).err().filter(|untold| *untold != Untold::NoObject));
        return strange.map_or_else(|| Ok(Schema::one_brc()), Err);
    };
    for line in lines() {
        // A line that is cut off, or not a row, tells nothing.
        if let Ok(columns) = columns(line) {
            guesses.iter_mut().for_each(|guess| guess.widen(&columns));
        }
    }
    Ok(table(&guesses).unwrap_or_else(Schema::one_brc))
}

fn text(prefix: &[u8]) -> &[u8] {
    prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(prefix)
}

/// What some rows tell of a column.
#[derive(Debug, Clone, PartialEq)]
struct Guess {
    name: String,
    seen: Seen,
    nullable: bool,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen {
    /// Only nulls.
    Nothing,
    Bool,
    /// Exact numbers in units of the scale.
    Numbers {
        min: i128,
        max: i128,
        scale: u8,
    },
    /// Numbers with an exponent of which no decimal is exact.
    Floats,
    Strings,
}

/// The table of these columns, if there is one.
fn table(columns: &[Guess]) -> Option<Schema> {
    let field = |guess: &Guess| Field {
        name: guess.name.clone(),
        logical_type: guess.seen.logical_type(),
        nullable: guess.nullable,
    };
    Schema::new(columns.iter().map(field).collect()).ok()
}

impl Guess {
    /// Takes note of another row.
    fn widen(&mut self, row: &[Self]) {
        match row.iter().find(|column| column.name == self.name) {
            Some(column) => {
                self.seen = self.seen.and(column.seen);
                self.nullable |= column.nullable;
            }
            None => self.nullable = true,
        }
    }
}

impl Seen {
    fn number(text: &str) -> Self {
        let scale = u8::try_from(number::decimals(text)).ok().filter(|scale| *scale <= LogicalType::MAX_PRECISION);
        match scale.map(|scale| (number::parse_wide(text, scale), scale)) {
            Some((Ok(value), scale)) => Self::Numbers { min: value, max: value, scale },
            _ if text.contains(['e', 'E']) => Self::Floats,
            // More digits than any type has: the row is a bad one.
            _ => Self::Numbers { min: i128::MIN, max: i128::MAX, scale: scale.unwrap_or(LogicalType::MAX_PRECISION) },
        }
    }

    /// What holds both. Where nothing does, the first counts, and rows with the other are bad ones.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, seen) => seen,
            (Self::Numbers { min, max, scale }, Self::Numbers { min: low, max: high, scale: other }) => {
                let common = scale.max(other);
                let scaled = |value: i128, from: u8| {
                    value.saturating_mul(10i128.checked_pow((common - from).into()).unwrap_or(i128::MAX))
                };
                Self::Numbers {
                    min: scaled(min, scale).min(scaled(low, other)),
                    max: scaled(max, scale).max(scaled(high, other)),
                    scale: common,
                }
            }
            (Self::Numbers { .. }, Self::Floats) => Self::Floats,
            (seen, _) => seen,
        }
    }

    fn logical_type(self) -> LogicalType {
        match self {
            Self::Bool => LogicalType::Bool,
            Self::Floats => LogicalType::Float64,
            Self::Nothing | Self::Strings => LogicalType::String,
            Self::Numbers { min, max, scale } => {
                let fits = i64::try_from(min).is_ok() && i64::try_from(max).is_ok();
                if fits && scale <= LogicalType::MAX_PRECISION_64 {
                    LogicalType::number(scale)
                } else if scale == 0 && u64::try_from(min).is_ok() && u64::try_from(max).is_ok() {
                    LogicalType::UInt64
                } else {
                    LogicalType::Decimal { precision: LogicalType::MAX_PRECISION, scale }
                }
            }
        }
    }
}

/// The columns without those of a name that another one before them has.
fn without_repeated(mut columns: Vec<Guess>) -> Vec<Guess> {
    let mut names = HashSet::new();
    columns.retain(|column| names.insert(column.name.clone()));
    columns
}

/// The columns that a row has by itself.
fn columns(line: &[u8]) -> Result<Vec<Guess>, Untold> {
    let mut names = Vec::new();
    let mut seen = Vec::new();
    let mut strange = None;
    let name = |key: &str| {
        names.push(key.to_owned());
        Ok(names.len() - 1)
    };
    let outcome = members(line, name, |column, raw| {
        seen.push(match Kind::of(raw) {
            Kind::Number => Seen::number(raw.get()),
            Kind::String => Seen::Strings,
            Kind::Boolean => Seen::Bool,
            Kind::Null => Seen::Nothing,
            kind @ (Kind::Array | Kind::Object) => {
                strange.get_or_insert((column, kind.name()));
                Seen::Nothing
            }
        });
        Ok(())
    });
    if outcome.is_err() {
        return Err(Untold::NoObject);
    }
    if let Some((column, found)) = strange {
        return Err(Untold::Strange { column: names.swap_remove(column), found });
    }
    let guess = |(name, seen)| Guess { name, seen, nullable: seen == Seen::Nothing };
    Ok(names.into_iter().zip(seen).map(guess).collect())
}
