//! Comma- or tab-separated values with a header, as `brc convert` writes them: quoted as in RFC 4180 where necessary; a
//! null is an empty field, and an empty string is `""`.

use super::Format;
use super::lines::{self, Lines};
use brc_core::{Batch, BatchWriter, LogicalType, Schema};
use brc_encodings::brc_text::write::FieldWriter;
use brc_encodings::brc_text::{Delimiter, Dialect, Form};

/// Values separated by a delimiter.
pub(super) struct Separated {
    delimiter: u8,
    name: &'static str,
    about: &'static str,
}

pub(super) const CSV: Separated =
    Separated { delimiter: b',', name: "csv", about: "comma-separated values with a header; nulls are empty" };

pub(super) const TSV: Separated = Separated { delimiter: b'\t', name: "tsv", about: "the same with tabs" };

impl Format for Separated {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn expresses_all(&self) -> bool {
        true
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        self.rows_writer(schema, vec![None; schema.fields().len()])
    }

    fn text_writer(&self, schema: &Schema) -> Option<Box<dyn BatchWriter>> {
        Some(self.rows_writer(schema, Form::of_text(schema)))
    }
}

impl Separated {
    fn rows_writer(&self, schema: &Schema, forms: Vec<Option<Form>>) -> Box<dyn BatchWriter> {
        let dialect = Dialect { delimiter: Delimiter::Byte(self.delimiter), ..Dialect::default() };
        let fields = FieldWriter::new(&dialect, schema.fields().len());
        let mut header = Vec::new();
        fields.header(schema, &mut header);
        lines::writer(schema, Rows { header, fields, forms })
    }
}

struct Rows {
    header: Vec<u8>,
    fields: FieldWriter,
    /// The text form of each column; `None` for the default form.
    forms: Vec<Option<Form>>,
}

impl Lines for Rows {
    fn start(&self) -> Vec<u8> {
        self.header.clone()
    }

    fn rows(&self, batch: &Batch<'_>, types: &[LogicalType], _: bool, out: &mut Vec<u8>) {
        let columns = self.fields.columns(batch, types.iter().copied(), &self.forms);
        for row in 0..batch.rows {
            self.fields.row(&columns, row, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_type_are_written() {
        let expected = "a|b,n,d,f,b\n\"x, \"\"y\"\"\",1.50,2024-02-29,NaN,true\n\"\",,,1e300,\n";
        assert_eq!(crate::render::rendered(&CSV), expected);
        let expected = "a|b\tn\td\tf\tb\n\"x, \"\"y\"\"\"\t1.50\t2024-02-29\tNaN\ttrue\n\"\"\t\t\t1e300\t\n";
        assert_eq!(crate::render::rendered(&TSV), expected);
    }
}
