//! Appends rows to a buren file: its blocks are copied unchanged to a new file, and the new row groups are written
//! after them. Readers see the old file until the new one is complete.

use crate::buren::{Buren, writer_options};
use crate::encoding::{CreateOptions, Encoding};
use crate::input_file::InputFile;
use crate::output::Output;
use crate::remote::is_in_store;
use ::buren::Reader;
use brc_core::{BatchWriter, Error, Field, Result, Schema, Table};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// A file to which rows are appended.
pub struct Appendable {
    reader: Reader,
    file: File,
}

impl Appendable {
    /// Opens a file of the given encoding; `None` if it does not exist yet.
    ///
    /// # Errors
    /// [`Error::Usage`] if the encoding cannot append; the error of reading if the file is damaged or not a buren file.
    pub fn open(path: &Path, encoding: &dyn Encoding) -> Result<Option<Self>> {
        let (name, buren) = (encoding.name(), Buren.name());
        if name != buren {
            let reason = format!("rows can be appended to {buren} files only, not to {name}");
            return Err(Error::Usage(format!("{}: {reason}", path.display())));
        }
        if path == Path::new("-") {
            return Err(Error::Usage("rows can be appended to a file only, not to standard output".to_owned()));
        }
        if is_in_store(path) {
            return Err(Error::Usage(format!("{}: rows can be appended to a local file only", path.display())));
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, "open")(error)),
        };
        if !file.metadata().map_err(Error::io(path, "open"))?.is_file() {
            return Err(Error::Usage(format!("{}: is not a regular file, so no rows can be appended", path.display())));
        }
        let input = InputFile::from(file.try_clone().map_err(Error::io(path, "open"))?);
        Ok(Some(Self { reader: Reader::open(input, path)?, file }))
    }

    /// The columns of the file.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.reader.schema()
    }

    /// The columns of the file after rows of `table` are appended: nullable where either of the two is.
    ///
    /// # Errors
    /// [`Error::Usage`] if names or types differ.
    pub fn schema_with(&self, table: &Schema) -> Result<Schema> {
        let own = self.schema();
        let same = |(own, new): (&Field, &Field)| own.name == new.name && own.logical_type == new.logical_type;
        if own.fields().len() != table.fields().len() || !own.fields().iter().zip(table.fields()).all(same) {
            let path = self.reader.path().display();
            return Err(Error::Usage(format!(
                "{path}: its columns are {own}, but those of the rows to append are {table}; --schema sets those of text"
            )));
        }
        let field = |(own, new): (&Field, &Field)| Field { nullable: own.nullable || new.nullable, ..own.clone() };
        let fields = own.fields().iter().zip(table.fields()).map(field).collect();
        let schema = Schema::new(fields).map_err(|error| Error::Usage(error.to_string()))?;
        Ok(schema.with_metadata(own.metadata().to_vec()))
    }

    /// A writer of the new row groups.
    ///
    /// # Errors
    /// As for [`Reader::continued`].
    pub fn writer(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        Ok(Box::new(self.reader.continued(schema, writer_options(options))?))
    }

    /// Copies the existing file to the output.
    ///
    /// # Errors
    /// As for writing the output.
    pub fn copy_to(&self, output: &Output) -> Result<()> {
        output.begin_with(&self.file)
    }
}
