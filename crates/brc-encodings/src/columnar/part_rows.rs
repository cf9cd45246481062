//! The rows of a part while it is collected: strings as codes of the part's own dictionary, numbers in full.

use super::Numbers;
use crate::refused::Refused;
use crate::rows::foreign;
use brc_core::{
    Batch, Bitmap, BitmapBuffer, Column, Data, Dictionary, Error, LogicalType, PhysicalType, Result, Schema,
    UnsupportedReason,
};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
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
pub(crate) struct Rows {
    pub(crate) values: Values,
    pub(crate) validity: BitmapBuffer,
}

/// The values of the rows; those of nulls are 0.
pub(crate) enum Values {
    Strings(Box<Strings>),
    Integers(Numbers),
    Floats(Vec<f64>),
}

/// Strings, numbered in the order in which they first appear in the part.
pub(crate) struct Strings {
    pub(crate) codes: Vec<u32>,
    interner: Interner,
    /// Whether they must be UTF-8.
    is_text: bool,
    /// For each code of the batches, the part's own one.
    own: Vec<u32>,
    /// Which codes of the batches have one.
    seen: Vec<u32>,
}

/// No code of a part, which has fewer rows.
const UNSEEN: u32 = u32::MAX;

/// Why a string was not added.
enum Refusal {
    Code(u32),
    Row(usize),
}

impl PartRows {
    /// Rows for the encoding of that name.
    pub(crate) fn new(name: &'static str, schema: &Arc<Schema>) -> Self {
        let columns = schema.fields().iter().map(|field| Rows::new(field.logical_type)).collect();
        Self { name, schema: Arc::clone(schema), columns, rows: 0 }
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
        let fields = self.schema.fields();
        for (index, ((rows, column), field)) in self.columns.iter_mut().zip(batch.columns).zip(fields).enumerate() {
            if column.has_nulls() && !field.nullable {
                return Err(foreign());
            }
            match rows.push(column, batch.rows)? {
                None => {}
                Some(Refusal::Row(row)) => {
                    let value = if let Data::Bytes(strings) = column.data { strings.get(row) } else { &[] };
                    refused.push(Refused::value(row, index, value, UnsupportedReason::NotUtf8));
                }
                Some(Refusal::Code(code)) => {
                    if column.dictionary().is_none_or(|dictionary| code as usize >= dictionary.len()) {
                        return Err(Error::Usage(format!("column {index}: a code is not in its dictionary")));
                    }
                    refused.push(Refused::string(index, column, code, UnsupportedReason::NotUtf8));
                }
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
            column.validity.clear();
            match &mut column.values {
                Values::Strings(strings) => strings.clear(),
                Values::Integers(numbers) => numbers.clear(),
                Values::Floats(floats) => floats.clear(),
            }
        }
    }
}

impl Rows {
    fn new(logical_type: LogicalType) -> Self {
        let values = match logical_type.physical() {
            PhysicalType::Integers => Values::Integers(Numbers::I16(Vec::new())),
            PhysicalType::Floats => Values::Floats(Vec::new()),
            PhysicalType::Bytes => Values::Strings(Box::new(Strings::new(logical_type == LogicalType::String))),
        };
        Self { values, validity: BitmapBuffer::default() }
    }

    /// The dictionary, if the column has strings.
    pub(crate) fn dictionary(&self) -> Option<&Dictionary> {
        if let Values::Strings(strings) = &self.values { Some(strings.dictionary()) } else { None }
    }

    /// Adds the rows of a column, of which one may be refused.
    fn push(&mut self, column: &Column<'_>, rows: usize) -> Result<Option<Refusal>> {
        let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
        match (&mut self.values, column.data) {
            (Values::Strings(strings), Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_)) => {
                if let Err(refusal) = strings.push(column, validity) {
                    return Ok(Some(refusal));
                }
            }
            (Values::Integers(numbers), Data::Integers(values)) => {
                let start = numbers.len();
                numbers.extend(&values);
                if let Some(validity) = validity {
                    match numbers {
                        Numbers::I16(values) => blank(&mut values[start..], validity),
                        Numbers::I32(values) => blank(&mut values[start..], validity),
                        Numbers::I64(values) => blank(&mut values[start..], validity),
                        Numbers::I128(values) => blank(&mut values[start..], validity),
                    }
                }
            }
            (Values::Floats(floats), Data::Floats(values)) => {
                let start = floats.len();
                floats.extend_from_slice(values);
                if let Some(validity) = validity {
                    blank(&mut floats[start..], validity);
                }
            }
            (Values::Strings(_) | Values::Integers(_) | Values::Floats(_), _) => return Err(foreign()),
        }
        self.validity.extend(validity, rows);
        Ok(None)
    }
}

/// What is written must not depend on what lies where rows are null.
fn blank<T: Copy + Default>(values: &mut [T], validity: Bitmap<'_>) {
    for (value, is_valid) in values.iter_mut().zip(validity.iter()) {
        if !is_valid {
            *value = T::default();
        }
    }
}

impl Strings {
    fn new(is_text: bool) -> Self {
        Self { codes: Vec::new(), interner: Interner::new(Level::best()), is_text, own: Vec::new(), seen: Vec::new() }
    }

    /// What the codes stand for.
    pub(crate) fn dictionary(&self) -> &Dictionary {
        self.interner.dictionary()
    }

    /// Adds the rows of a column of strings.
    ///
    /// # Errors
    /// The first code or row whose value is not UTF-8, or a code that has none.
    fn push(&mut self, column: &Column<'_>, validity: Option<Bitmap<'_>>) -> Result<(), Refusal> {
        match column.data {
            Data::Codes { codes, dictionary } => match validity {
                None => self.push_codes(codes, dictionary)?,
                Some(validity) => {
                    for (&code, is_valid) in codes.iter().zip(validity.iter()) {
                        let own = if is_valid { self.own_code(code, dictionary)? } else { 0 };
                        self.codes.push(own);
                    }
                }
            },
            Data::Runs { runs, dictionary } => {
                let mut row = 0;
                for run in runs {
                    let rows = run.rows as usize;
                    let valid = validity.map(|validity| validity.slice(row..row + rows));
                    // A run of nulls may have any code.
                    let own = match valid {
                        Some(valid) if valid.count_values() == 0 => 0,
                        _ => self.own_code(run.code, dictionary)?,
                    };
                    match valid {
                        None => self.codes.extend(std::iter::repeat_n(own, rows)),
                        Some(valid) => self.codes.extend(valid.iter().map(|is_valid| if is_valid { own } else { 0 })),
                    }
                    row += rows;
                }
            }
            Data::Bytes(strings) => {
                self.codes.reserve(strings.len());
                for (row, value) in strings.iter().enumerate() {
                    let is_valid = validity.is_none_or(|validity| validity.get(row));
                    let own = if is_valid { self.intern(value).ok_or(Refusal::Row(row))? } else { 0 };
                    self.codes.push(own);
                }
            }
            Data::Integers(_) | Data::Floats(_) => {}
        }
        Ok(())
    }

    fn push_codes(&mut self, codes: &[u32], dictionary: &Dictionary) -> Result<(), Refusal> {
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
    fn own_code(&mut self, code: u32, dictionary: &Dictionary) -> Result<u32, Refusal> {
        let index = code as usize;
        if index >= dictionary.len() {
            return Err(Refusal::Code(code));
        }
        self.own.resize(self.own.len().max(dictionary.len()), UNSEEN);
        if self.own[index] == UNSEEN {
            self.own[index] = self.intern(dictionary.get(code)).ok_or(Refusal::Code(code))?;
            self.seen.push(code);
        }
        Ok(self.own[index])
    }

    /// The part's own code for a string; `None` if it is not UTF-8 and must be.
    fn intern(&mut self, value: &[u8]) -> Option<u32> {
        if self.is_text && std::str::from_utf8(value).is_err() {
            return None;
        }
        Some(self.interner.intern(value))
    }

    fn clear(&mut self) {
        self.codes.clear();
        self.interner = Interner::new(Level::best());
        for code in self.seen.drain(..) {
            self.own[code as usize] = UNSEEN;
        }
    }
}
