//! `brc convert --append`: the output keeps its rows and gets more.

use brc_core::{BatchWriter, Error, Result, Schema};
use brc_encodings::append::Appendable;
use brc_encodings::{CreateOptions, OpenOptions, Output};
use std::path::Path;

/// How to open the rows to add: a text in the types of the file, if nothing else is said of them. The columns of these names
/// are not of the text.
pub(super) fn options(mut options: OpenOptions, file: &Schema, added: &[String]) -> OpenOptions {
    let is_said = options.schema.is_some() || options.text.all_strings || !options.text.types.is_empty();
    if !is_said {
        let fields = file.fields().iter().filter(|field| !added.contains(&field.name));
        options.text.types = fields.cloned().collect();
    }
    options
}

/// An error of opening the rows in the types of the file, which no option of the user set.
pub(super) fn explained(error: Error, file: &Path) -> Error {
    match error {
        Error::Usage(message) => Error::Usage(match message.strip_prefix("--type: ") {
            Some(reason) => format!("{}: the rows to append have other columns: {reason}", file.display()),
            None => message,
        }),
        error => error,
    }
}

/// A writer that continues a file, of which a copy is the beginning of the output.
///
/// # Errors
/// Those of the file and the output.
pub(super) fn writer(
    target: &Appendable,
    table: &Schema,
    create: &CreateOptions,
    output: &Output,
) -> Result<Box<dyn BatchWriter>> {
    let schema = target.schema_with(table)?;
    let writer = target.writer(&schema, create)?;
    target.copy_to(output)?;
    Ok(writer)
}
