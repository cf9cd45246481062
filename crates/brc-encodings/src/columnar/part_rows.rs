//! The rows of a part while it is collected: strings as codes of the part's own dictionary, numbers in full.

use brc_core::{Batch, Column, DataType, Dictionary, Error, Result, Schema, Values};

/// The rows of a part, column by column.
pub(crate) struct PartRows {
    names: Vec<String>,
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
    pub(crate) fn new(schema: &Schema) -> Self {
        let rows = |data_type| match data_type {
            DataType::String => Rows::Strings(Strings::default()),
            _ => Rows::Numbers(Vec::new()),
        };
        Self {
            names: schema.fields().iter().map(|field| field.name.clone()).collect(),
            columns: schema.fields().iter().map(|field| rows(field.data_type)).collect(),
            rows: 0,
        }
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// If a string is not UTF-8, or the batch is not of the schema's columns.
    pub(crate) fn push(&mut self, batch: &Batch<'_>) -> Result<()> {
        let foreign = || Error::Usage("a batch is not of the table's columns".into());
        if batch.columns.len() != self.columns.len() {
            return Err(foreign());
        }
        for ((rows, column), name) in self.columns.iter_mut().zip(batch.columns).zip(&self.names) {
            match (rows, column) {
                (Rows::Strings(strings), Column::Codes { codes, dictionary }) => {
                    strings.push(codes, dictionary, name)?;
                }
                (Rows::Strings(strings), Column::Runs { runs, dictionary }) => {
                    for run in *runs {
                        let code = strings.own_code(run.code, dictionary, name)?;
                        strings.codes.extend(std::iter::repeat_n(code, run.rows as usize));
                    }
                }
                (Rows::Numbers(numbers), Column::Values(Values::I16(values))) => {
                    numbers.extend(values.iter().map(|&value| i64::from(value)));
                }
                (Rows::Numbers(numbers), Column::Values(Values::I32(values))) => {
                    numbers.extend(values.iter().map(|&value| i64::from(value)));
                }
                (Rows::Numbers(numbers), Column::Values(Values::I64(values))) => numbers.extend_from_slice(values),
                _ => return Err(foreign()),
            }
        }
        self.rows += batch.rows as u64;
        if self.rows >= u64::from(UNSEEN) {
            return Err(Error::Usage("a part has more rows than codes".into()));
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
    fn push(&mut self, codes: &[u32], dictionary: &Dictionary, name: &str) -> Result<()> {
        self.own.resize(self.own.len().max(dictionary.len()), UNSEEN);
        self.codes.reserve(codes.len());
        for &code in codes {
            let own = match self.own.get(code as usize) {
                Some(&own) if own != UNSEEN => own,
                _ => self.own_code(code, dictionary, name)?,
            };
            self.codes.push(own);
        }
        Ok(())
    }

    /// The part's own code for one of the batches.
    fn own_code(&mut self, code: u32, dictionary: &Dictionary, name: &str) -> Result<u32> {
        let index = code as usize;
        if index >= dictionary.len() {
            return Err(Error::Usage(format!("column '{name}': a code is not in its dictionary")));
        }
        self.own.resize(self.own.len().max(dictionary.len()), UNSEEN);
        if self.own[index] == UNSEEN {
            let value = dictionary.get(code);
            if std::str::from_utf8(value).is_err() {
                let value = value.escape_ascii();
                return Err(Error::Usage(format!("column '{name}': '{value}' is not UTF-8, as a string must be here")));
            }
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
