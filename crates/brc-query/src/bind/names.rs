//! Finds columns by name, and suggests names for misspelled ones.

use crate::sql::suggestions::meant;
use brc_core::{Error, Schema, UnsupportedColumn};
use std::collections::HashMap;

/// A name that no column has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unknown {
    #[error("unknown {what} '{name}'{hint} ({what}s: {known})", hint = hint(.name, .meant.as_deref()))]
    Nowhere { what: &'static str, name: String, meant: Option<String>, known: String },
    /// The file has it, but the table does not.
    #[error("{0}")]
    UnsupportedColumn(UnsupportedColumn),
}

impl Unknown {
    /// `name` is not among `known`, which are things of the kind `what`.
    pub(crate) fn new<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        Self::Nowhere {
            what,
            name: name.to_owned(),
            meant: known
                .clone()
                .find(|known| is_last_part(name, known) || is_last_part(known, name))
                .or(meant(name, known.clone()))
                .map(str::to_owned),
            known: known.collect::<Vec<_>>().join(", "),
        }
    }
}

/// Whether a name is what SQL makes of another with a dot in it: it takes what is before the dot for a table.
fn is_last_part(name: &str, known: &str) -> bool {
    known.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
}

fn hint(name: &str, meant: Option<&str>) -> String {
    match meant {
        Some(meant) if is_last_part(name, meant) => format!("; write \"{meant}\" in double quotes, because of its dot"),
        Some(meant) => format!(", did you mean '{meant}'?"),
        None => String::new(),
    }
}

impl From<Unknown> for Error {
    fn from(unknown: Unknown) -> Self {
        Self::Usage(unknown.to_string())
    }
}

/// The columns of a table by their names.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    pub(crate) schema: &'a Schema,
    positions: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(schema: &'a Schema) -> Self {
        let names = schema.fields().iter().map(|field| field.name.as_str());
        Self { schema, positions: names.zip(0..).collect() }
    }

    /// The position of the column of that name, if there is one.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// The position of the column of that name.
    ///
    /// # Errors
    /// That there is none, and which name is close.
    pub(crate) fn find(&self, name: &str) -> Result<usize, Unknown> {
        self.position(name).ok_or_else(|| {
            // A field of a struct is named after it, with a dot.
            let is_of = |column: &&UnsupportedColumn| {
                name.strip_prefix(column.name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            match self.schema.unsupported_columns().iter().find(is_of) {
                Some(column) => Unknown::UnsupportedColumn(column.clone()),
                None => {
                    let known = self.schema.fields().iter().map(|field| field.name.as_str());
                    Unknown::new("column", name, known)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let known = ["station", "temperature"];
        assert_eq!(meant("Station", known.into_iter()), Some("station"));
        assert_eq!(meant("temprature", known.into_iter()), Some("temperature"));
        assert_eq!(meant("ipx", ["pix", "id"].into_iter()), Some("pix"));
        assert_eq!(meant("city", known.into_iter()), None);
    }

    #[test]
    fn names_with_dots_need_quotes() {
        let message = Unknown::new("column", "R", ["Ozone", "Solar.R"].into_iter()).to_string();
        let expected =
            "unknown column 'R'; write \"Solar.R\" in double quotes, because of its dot (columns: Ozone, Solar.R)";
        assert_eq!(message, expected);
        let message = Unknown::new("column", "t.R", ["Ozone", "R"].into_iter()).to_string();
        assert_eq!(message, "unknown column 't.R', did you mean 'R'? (columns: Ozone, R)");
    }

    #[test]
    fn the_message_lists_what_there_is() {
        assert_eq!(
            Names::new(&Schema::one_brc()).find("statoin").unwrap_err().to_string(),
            "unknown column 'statoin', did you mean 'station'? (columns: station, temperature)"
        );
        assert_eq!(
            Names::new(&Schema::one_brc()).find("x").unwrap_err().to_string(),
            "unknown column 'x' (columns: station, temperature)"
        );
    }
}
