//! Writes rows as text.

use crate::rows::{RowBuffer, RowWriter, Short};
use brc_core::{Schema, UnsupportedReason, Value, decimal};

/// Writes a row as a line of delimited values.
#[derive(Clone)]
pub(super) struct Lines {
    delimiter: u8,
    /// The scale of each numeric column.
    scales: Vec<u8>,
}

impl Lines {
    pub(super) fn new(schema: &Schema, delimiter: u8) -> Self {
        Self { delimiter, scales: schema.fields().iter().map(|field| field.logical_type.scale()).collect() }
    }

    /// The byte after a value.
    fn end(&self, column: usize) -> u8 {
        if column + 1 == self.scales.len() { b'\n' } else { self.delimiter }
    }
}

impl RowWriter for Lines {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        (Vec::new(), vec![self.end(column)])
    }

    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        match value {
            Some(Value::Bytes(text)) => {
                fault(text, self.delimiter, self.end(column)).map_or(Ok(()), Err)?;
                out.push(text);
            }
            Some(Value::Integer(number)) => out.push(decimal::write(number, self.scales[column], &mut [0; 64])),
            // The encoding supports neither yet.
            Some(Value::Float(_)) | None => return Err(UnsupportedReason::Empty),
        }
        Ok(())
    }

    fn number(&self, column: usize, number: i64) -> Short {
        Short::new(decimal::write(number.into(), self.scales[column], &mut [0; 64]))
    }
}

/// The reason why a string would not be read back unchanged.
fn fault(name: &[u8], delimiter: u8, end: u8) -> Option<UnsupportedReason> {
    let unsupported = |&byte: &u8| match byte {
        b'\n' => Some(UnsupportedReason::LineFeed),
        0 => Some(UnsupportedReason::NulByte),
        _ if byte == delimiter => Some(UnsupportedReason::Delimiter(delimiter)),
        _ => None,
    };
    match name {
        [] => Some(UnsupportedReason::Empty),
        [.., b'\r'] if end == b'\n' => name.iter().find_map(unsupported).or(Some(UnsupportedReason::CarriageReturn)),
        _ => name.iter().find_map(unsupported),
    }
}
