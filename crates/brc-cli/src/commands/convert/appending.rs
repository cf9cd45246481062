//! `brc convert --append`: adds rows to an existing file.

use brc_core::{BatchWriter, Error, Result, Schema};
use brc_encodings::append::Appendable;
use brc_encodings::brc_text::Form;
use brc_encodings::{CreateOptions, OpenOptions, Output};
use std::path::Path;

/// The options for reading the rows to append: text has the column types of `file` unless options set types, and its
/// values are likely to be written in the same way. The `added` columns are not part of the text.
pub(super) fn options(mut options: OpenOptions, file: &Schema, added: &[String]) -> OpenOptions {
    let has_types = options.schema.is_some() || options.text.all_strings || !options.text.types.is_empty();
    if !has_types {
        let fields = file.fields().iter().filter(|field| !added.contains(&field.name));
        options.text.types = fields.cloned().collect();
    }
    let forms = file.fields().iter().zip(Form::of_columns(file));
    options.likely_forms = forms.filter_map(|(field, form)| Some((field.name.clone(), form?))).collect();
    options
}

/// Rewords the error that a column with a given type is missing, since no option of the user set these types.
pub(super) fn explained(error: Error, file: &Path) -> Error {
    match error {
        Error::Usage(message) => Error::Usage(match message.strip_prefix("--type: unknown column ") {
            Some(missing) => format!(
                "{}: the rows to append lack its column {}",
                file.display(),
                missing.replacen("' (columns: ", "' (their columns: ", 1)
            ),
            None => message,
        }),
        error => error,
    }
}

/// Copies the existing file to the output, and returns a writer that continues it.
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
