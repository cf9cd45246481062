//! The rows of a part while it is collected: strings as codes of the part's own dictionary, numbers in full.

use crate::refused::Refused;
use crate::rows::foreign;
use brc_core::{Batch, Column, Data, Dictionary, Error, HoldFault, Integers, LogicalType, Result, Schema};
use std::sync::Arc;

/// The rows of a part, column by column.
pub(crate) struct PartRows {
    /// The encoding's name.
    name: &'static str,
    schema: Arc<Schema>,
    columns: Vec<Rows>,
    rows: u64,
}

/// The rows of one column.
pub(crate) enum Rows {
    Strings(Strings),
    Numbers(Vec<i64>),
}

/// Strings, numbered in the order in which they first appear in the part.
#[derive(Default)]
pub(crate) struct Strings {
    pub(crate) codes: Vec<u32>,
    pub(crate) dictionary: Dictionary,
    /// For each code of the batches, the part's own one.
    own: Vec<u32>,
    /// Which codes of the batches have one.
    seen: Vec<u32>,
}

/// No code of a part, which has fewer rows.
const UNSEEN: u32 = u32::MAX;

impl PartRows {
    /// Rows for the encoding of that name.
    pub(crate) fn new(name: &'static str, schema: &Arc<Schema>) -> Self {
        let rows = |logical_type| match logical_type {
            LogicalType::String => Rows::Strings(Strings::default()),
            _ => Rows::Numbers(Vec::new()),
        };
        Self {
            name,
            schema: Arc::clone(schema),
            columns: schema.fields().iter().map(|field| rows(field.logical_type)).collect(),
            rows: 0,
        }
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// If a string is not UTF-8, or the batch is not of the schema's columns.
    pub(crate) fn push(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.columns.len() != self.columns.len() {
            return Err(foreign());
        }
        let mut refused = Vec::new();
        for (index, (rows, column)) in self.columns.iter_mut().zip(batch.columns).enumerate() {
            if column.has_nulls() {
                return Err(foreign());
            }
            match (rows, column.data) {
                (Rows::Strings(strings), Data::Codes { .. } | Data::Runs { .. }) => {
                    if let Err(code) = strings.push(column) {
                        if column.dictionary().is_none_or(|dictionary| code as usize >= dictionary.len()) {
                            return Err(Error::Usage(format!("column {index}: a code is not in its dictionary")));
                        }
                        refused.push(Refused::string(index, column, code, HoldFault::NotUtf8));
                    }
                }
                (Rows::Numbers(numbers), Data::Integers(values)) => match values {
                    Integers::I8(values) => numbers.extend(values.iter().map(|&value| i64::from(value))),
                    Integers::I16(values) => numbers.extend(values.iter().map(|&value| i64::from(value))),
                    Integers::I32(values) => numbers.extend(values.iter().map(|&value| i64::from(value))),
                    Integers::I64(values) => numbers.extend_from_slice(values),
                    Integers::I128(values) => {
                        for &value in values {
                            numbers.push(i64::try_from(value).map_err(|_| foreign())?);
                        }
                    }
                },
                _ => return Err(foreign()),
            }
        }
        if let Some(refused) = Refused::first(refused.into_iter()) {
            return Err(refused.behind(self.rows, self.name, &self.schema));
        }
        self.rows += batch.rows as u64;
        if self.rows >= u64::from(UNSEEN) {
            return Err(Error::too_large(self.name, "a part of it has 4294967295 rows"));
        }
        Ok(())
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The columns, in order.
    pub(crate) fn columns(&self) -> &[Rows] {
        &self.columns
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            match column {
                Rows::Strings(strings) => strings.clear(),
                Rows::Numbers(numbers) => numbers.clear(),
            }
        }
    }
}

impl Strings {
    /// Adds the rows of a column of strings.
    ///
    /// # Errors
    /// The first code whose value is not UTF-8, or that has none.
    fn push(&mut self, column: &Column<'_>) -> Result<(), u32> {
        match column.data {
            Data::Codes { codes, dictionary } => self.push_codes(codes, dictionary)?,
            Data::Runs { runs, dictionary } => {
                for run in runs {
                    let code = self.own_code(run.code, dictionary)?;
                    self.codes.extend(std::iter::repeat_n(code, run.rows as usize));
                }
            }
            Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => {}
        }
        Ok(())
    }

    fn push_codes(&mut self, codes: &[u32], dictionary: &Dictionary) -> Result<(), u32> {
        self.own.resize(self.own.len().max(dictionary.len()), UNSEEN);
        self.codes.reserve(codes.len());
        for &code in codes {
            let own = match self.own.get(code as usize) {
                Some(&own) if own != UNSEEN => own,
                _ => self.own_code(code, dictionary)?,
            };
            self.codes.push(own);
        }
        Ok(())
    }

    /// The part's own code for one of the batches.
    fn own_code(&mut self, code: u32, dictionary: &Dictionary) -> Result<u32, u32> {
        let index = code as usize;
        if index >= dictionary.len() {
            return Err(code);
        }
        self.own.resize(self.own.len().max(dictionary.len()), UNSEEN);
        if self.own[index] == UNSEEN {
            let value = dictionary.get(code);
            std::str::from_utf8(value).map_err(|_| code)?;
            self.own[index] = self.dictionary.push(value);
            self.seen.push(code);
        }
        Ok(self.own[index])
    }

    fn clear(&mut self) {
        self.codes.clear();
        self.dictionary = Dictionary::new();
        for code in self.seen.drain(..) {
            self.own[code as usize] = UNSEEN;
        }
    }
}
