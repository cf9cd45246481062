//! Collects the rows of a part: strings as codes of the part's own dictionary, numbers in full.

use crate::refused::Refused;
use crate::rows::foreign;
use brc_core::{
    Batch, Bitmap, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Error, IntegerBuffer, LogicalType,
    PhysicalType, Result, Schema, UnsupportedReason,
};
use brc_kernels::interner::{self, DictionaryBuilder};
use std::sync::Arc;

/// The rows of a part, column by column.
pub(crate) struct PartRows {
    /// The encoding's name.
    name: &'static str,
    schema: Arc<Schema>,
    columns: Vec<PartColumn>,
    rows: u64,
}

/// The rows of one column.
pub(crate) struct PartColumn {
    pub(crate) values: PartValues,
    pub(crate) validity: BitmapBuffer,
}

/// The values of the rows; nulls are 0.
pub(crate) enum PartValues {
    Strings(Box<PartStrings>),
    Integers(IntegerBuffer),
    Floats(Vec<f64>),
}

/// Strings as codes, in order of first appearance in the part.
///
/// If strings hardly repeat, each row gets a new code, because lookups would not pay. This depends on the rows alone,
/// not on their batches.
pub(crate) struct PartStrings {
    pub(crate) codes: Vec<u32>,
    values: DictionaryBuilder,
    /// Whether strings are looked up, so that equal ones share a code.
    is_looked_up: bool,
    /// Whether they must be UTF-8.
    is_text: bool,
    /// For each code of the batches, the part's code.
    own: Vec<u32>,
    /// The codes of the batches that have one.
    seen: Vec<u32>,
}

/// Not a code of any part, which has fewer rows.
const UNSEEN: u32 = u32::MAX;

/// From this number of distinct strings on, there must be a quarter more rows.
const PROBE: usize = 1 << 14;

/// The reason why a string was not added.
enum Refusal {
    Code(u32),
    Row(usize),
}

impl PartRows {
    /// Rows for the encoding with the given name.
    pub(crate) fn new(name: &'static str, schema: &Arc<Schema>) -> Self {
        let columns = schema.fields().iter().map(|field| PartColumn::new(field.logical_type)).collect();
        Self { name, schema: Arc::clone(schema), columns, rows: 0 }
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// If a string is not UTF-8, or the batch does not fit the schema.
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
            return Err(refused.into_error(self.rows, self.name, &self.schema));
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
    pub(crate) fn columns(&self) -> &[PartColumn] {
        &self.columns
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            column.validity.clear();
            match &mut column.values {
                PartValues::Strings(strings) => strings.clear(),
                PartValues::Integers(numbers) => numbers.clear(),
                PartValues::Floats(floats) => floats.clear(),
            }
        }
    }
}

impl PartColumn {
    fn new(logical_type: LogicalType) -> Self {
        let values = match logical_type.physical() {
            PhysicalType::Integers => PartValues::Integers(IntegerBuffer::I16(Vec::new())),
            PhysicalType::Floats => PartValues::Floats(Vec::new()),
            PhysicalType::Bytes => PartValues::Strings(Box::new(PartStrings::new(logical_type == LogicalType::String))),
        };
        Self { values, validity: BitmapBuffer::default() }
    }

    /// The dictionary, if the column has strings.
    pub(crate) fn dictionary(&self) -> Option<&Dictionary> {
        if let PartValues::Strings(strings) = &self.values { Some(strings.dictionary()) } else { None }
    }

    /// Appends the rows of a column; one may be refused.
    fn push(&mut self, column: &Column<'_>, rows: usize) -> Result<Option<Refusal>> {
        let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
        match (&mut self.values, column.data) {
            (PartValues::Strings(strings), Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_)) => {
                if let Err(refusal) = strings.push(column, validity) {
                    return Ok(Some(refusal));
                }
            }
            (PartValues::Integers(numbers), Data::Integers(values)) => {
                let start = numbers.len();
                numbers.extend(values);
                if let Some(validity) = validity {
                    numbers.clear_nulls(start, validity);
                }
            }
            (PartValues::Floats(floats), Data::Floats(values)) => {
                let start = floats.len();
                floats.extend_from_slice(values);
                if let Some(validity) = validity {
                    let of_nulls = floats[start..].iter_mut().zip(validity.iter()).filter(|(_, is_valid)| !is_valid);
                    of_nulls.for_each(|(value, _)| *value = 0.0);
                }
            }
            (PartValues::Strings(_) | PartValues::Integers(_) | PartValues::Floats(_), _) => return Err(foreign()),
        }
        self.validity.extend(validity, rows);
        Ok(None)
    }
}

impl PartStrings {
    fn new(is_text: bool) -> Self {
        let values = DictionaryBuilder::default();
        Self { codes: Vec::new(), values, is_looked_up: true, is_text, own: Vec::new(), seen: Vec::new() }
    }

    /// The dictionary of the codes. A value may occur more than once.
    pub(crate) fn dictionary(&self) -> &Dictionary {
        self.values.dictionary()
    }

    /// Appends the rows of a string column.
    ///
    /// # Errors
    /// The first code or row whose value is not UTF-8, or an invalid code.
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
                let mut valid = validity.map(|validity| validity.iter());
                for run in runs {
                    for _ in 0..run.rows {
                        // A run of nulls may have any code.
                        let own = match valid.as_mut().and_then(Iterator::next) {
                            Some(false) => 0,
                            _ => self.own_code(run.code, dictionary)?,
                        };
                        self.codes.push(own);
                    }
                }
            }
            Data::Bytes(strings) if validity.is_none() => self.push_bytes(strings)?,
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

    /// Appends strings without nulls.
    fn push_bytes(&mut self, strings: ByteStrings<'_>) -> Result<(), Refusal> {
        let (offsets, bytes) = strings.parts();
        let offset = |row: usize| offsets[row] as usize;
        let is_refused = |value: &[u8]| std::str::from_utf8(value).is_err();
        if self.is_text
            && !strings.span().is_ascii()
            && let Some(row) = strings.iter().position(is_refused)
        {
            return Err(Refusal::Row(row));
        }
        let mut hashes = Vec::new();
        let mut taken = 0;
        while taken < strings.len() {
            if !self.is_looked_up {
                let start = offset(taken);
                let ends = offsets[taken + 1..].iter().map(|&end| end as usize - start);
                self.codes.extend(self.values.append_all(ends, &bytes[start..offset(strings.len())]));
                return Ok(());
            }
            if hashes.is_empty() {
                hashes.extend(strings.iter().map(interner::hash));
            }
            let (distinct, rows) = (self.values.dictionary().len(), self.codes.len());
            let max_distinct = if distinct < PROBE { PROBE } else { usize::MAX };
            self.values.intern_all(strings.iter().skip(taken), &hashes[taken..], max_distinct, &mut self.codes);
            taken += self.codes.len() - rows;
            self.probe(distinct, self.codes.len());
        }
        Ok(())
    }

    /// Turns lookups off if they hardly ever find a string: checked when the number of distinct strings, which was
    /// `before`, reaches certain values.
    fn probe(&mut self, before: usize, rows: usize) {
        let distinct = self.values.dictionary().len();
        if distinct == PROBE && distinct > before && rows <= PROBE + PROBE / 4 {
            self.is_looked_up = false;
            self.forget_own();
        }
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

    /// The part's code for a code of the batches.
    fn own_code(&mut self, code: u32, dictionary: &Dictionary) -> Result<u32, Refusal> {
        let index = code as usize;
        if index >= dictionary.len() {
            return Err(Refusal::Code(code));
        }
        self.own.resize(self.own.len().max(dictionary.len()), UNSEEN);
        if self.own[index] != UNSEEN {
            return Ok(self.own[index]);
        }
        let own = self.intern(dictionary.get(code)).ok_or(Refusal::Code(code))?;
        if self.is_looked_up {
            self.own[index] = own;
            self.seen.push(code);
        }
        Ok(own)
    }

    /// The part's code for a string; `None` if it is not UTF-8 and must be.
    fn intern(&mut self, value: &[u8]) -> Option<u32> {
        if self.is_text && std::str::from_utf8(value).is_err() {
            return None;
        }
        if !self.is_looked_up {
            return Some(self.values.append(value));
        }
        let known = self.values.dictionary().len();
        let code = self.values.intern(value);
        self.probe(known, self.codes.len() + 1);
        Some(code)
    }

    fn forget_own(&mut self) {
        for code in self.seen.drain(..) {
            self.own[code as usize] = UNSEEN;
        }
    }

    fn clear(&mut self) {
        self.codes.clear();
        self.values.clear();
        self.is_looked_up = true;
        self.forget_own();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Run;

    /// The codes and values of strings appended as bytes, as codes and as runs.
    fn collected(names: &[String]) -> [(Vec<u32>, Dictionary); 3] {
        let dictionary: Dictionary = names.iter().collect();
        let mut offsets = vec![0];
        let mut bytes = Vec::new();
        for name in names {
            bytes.extend_from_slice(name.as_bytes());
            offsets.push(bytes.len() as i32);
        }
        let codes: Vec<u32> = (0..names.len() as u32).collect();
        let runs: Vec<_> = codes.iter().map(|&code| Run { code, rows: 1 }).collect();
        let columns = [
            Column { data: Data::Bytes(ByteStrings::new(&offsets, &bytes)), validity: None },
            Column::codes(&codes, &dictionary),
            Column::runs(&runs, &dictionary),
        ];
        columns.map(|column| {
            let mut strings = PartStrings::new(true);
            for _ in 0..2 {
                assert!(strings.push(&column, None).is_ok());
            }
            (strings.codes.clone(), strings.dictionary().clone())
        })
    }

    #[test]
    fn lookups_depend_on_the_rows_alone() {
        let names = |count: usize| (0..count).map(|number| format!("name {number}")).collect::<Vec<_>>();
        for (count, distinct) in [(PROBE - 1, PROBE - 1), (PROBE, 2 * PROBE), (PROBE + 9, 2 * PROBE + 18)] {
            let [bytes, codes, runs] = collected(&names(count));
            assert_eq!(bytes.1.len(), distinct);
            assert!(bytes == codes && bytes == runs);
            let of_row = |row: usize| bytes.1.get(bytes.0[row]);
            assert!((0..count).all(|row| of_row(row) == of_row(count + row)));
        }
    }
}
