//! The columns of several tables as those of one.

use super::UnionOptions;
use brc_core::{Error, Field, LeftOut, LogicalType, Result, Schema};
use brc_text::Form;
use std::collections::HashMap;
use std::path::Path;

/// Where the values of a column come from, for the rows of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From that column of the table.
    Column(usize),
    /// All are the table's path.
    FileName,
    /// All are null.
    Missing,
}

/// The columns of all tables, which are known by their paths.
///
/// # Errors
/// [`Error::Usage`] if a table does not have those of the first, [`Error::TypeMismatch`] if it has them in other types.
pub(super) fn combine(tables: &[(&Path, &Schema)], options: &UnionOptions) -> Result<Schema> {
    let mut fields = if options.by_name { by_name(tables)? } else { by_position(tables)? };
    if let Some(name) = &options.file_name {
        if fields.iter().any(|field| field.name == *name) {
            return Err(Error::Usage(format!("--file-name {name}: there is a column of that name")));
        }
        fields.push(Field::required(name.as_str(), LogicalType::String));
    }
    let mut left_out: Vec<LeftOut> = Vec::new();
    for column in tables.iter().flat_map(|(_, schema)| schema.left_out()) {
        if !left_out.iter().any(|known| known.name == column.name) {
            left_out.push(column.clone());
        }
    }
    let schema = Schema::new(fields).map_err(|error| Error::Usage(error.to_string()))?;
    let forms = forms(&schema, tables);
    Ok(schema.without(left_out).with_metadata(forms))
}

/// The metadata that say how the values of columns are written, where all tables agree.
fn forms(schema: &Schema, tables: &[(&Path, &Schema)]) -> Vec<(String, String)> {
    let of_tables: Vec<_> = tables.iter().map(|(_, schema)| (schema, Form::of_columns(schema))).collect();
    let form = |field: &Field| {
        let own = of_tables.iter().filter_map(|(schema, forms)| schema.index_of(&field.name).map(|at| forms[at]));
        let distinct = own.fold(Vec::new(), |mut distinct, form| {
            if !distinct.contains(&form) {
                distinct.push(form);
            }
            distinct
        });
        if let [Some(form)] = distinct[..] { Some(form.metadata(&field.name)) } else { None }
    };
    schema.fields().iter().filter_map(form).collect()
}

/// Where the columns come from in a table with these own ones.
pub(super) fn origins(schema: &Schema, own: &Schema, options: &UnionOptions) -> Vec<Origin> {
    let positions: HashMap<_, _> = own.fields().iter().enumerate().map(|(at, field)| (&field.name, at)).collect();
    let mut origins: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| positions.get(&field.name).map_or(Origin::Missing, |&at| Origin::Column(at)))
        .collect();
    if let (Some(_), Some(last)) = (&options.file_name, origins.last_mut()) {
        *last = Origin::FileName;
    }
    origins
}

fn by_position(tables: &[(&Path, &Schema)]) -> Result<Vec<Field>> {
    let Some(((first, schema), others)) = tables.split_first() else { return Ok(Vec::new()) };
    let mut fields = schema.fields().to_vec();
    for (path, schema) in others {
        let differs = |reason: String| Error::Usage(format!("{}: {reason}", path.display()));
        let (path_of_first, hint) = (first.display(), "--union-by-name matches columns by their names");
        for (at, (field, own)) in fields.iter_mut().zip(schema.fields()).enumerate() {
            if field.name != own.name {
                let (number, own, name) = (at + 1, &own.name, &field.name);
                let reason = format!("column {number} is '{own}', but '{name}' in {path_of_first}; {hint}");
                return Err(differs(reason));
            }
            merge(field, own, first).map_err(|reason| of_types(path, &reason))?;
        }
        if let Some(missing) = fields.get(schema.fields().len()) {
            return Err(differs(format!("lacks the column '{}' of {path_of_first}; {hint}", missing.name)));
        }
        if let Some(more) = schema.fields().get(fields.len()) {
            return Err(differs(format!("has a column '{}', but {path_of_first} has none; {hint}", more.name)));
        }
    }
    Ok(fields)
}

fn by_name(tables: &[(&Path, &Schema)]) -> Result<Vec<Field>> {
    let mut fields: Vec<Field> = Vec::new();
    // For each column, its position, the first file that has it, and how many have it.
    let mut known: HashMap<&str, (usize, &Path, usize)> = HashMap::new();
    for (path, schema) in tables {
        for own in schema.fields() {
            let (at, first, files) = known.entry(&own.name).or_insert((fields.len(), path, 0));
            *files += 1;
            match fields.get_mut(*at) {
                Some(field) => {
                    merge(field, own, first).map_err(|reason| of_types(path, &reason))?;
                }
                None => fields.push(own.clone()),
            }
        }
    }
    for (at, _, files) in known.values() {
        fields[*at].nullable |= *files < tables.len();
    }
    Ok(fields)
}

/// A table's column is of another type than in tables before.
fn of_types(path: &Path, reason: &str) -> Error {
    Error::type_mismatch(format!("{}: {reason}", path.display()))
}

/// Makes a column that of another file, too.
fn merge(field: &mut Field, own: &Field, first: &Path) -> Result<(), String> {
    if field.logical_type != own.logical_type {
        let (name, first) = (&field.name, first.display());
        let (of_own, of_first) = (own.logical_type, field.logical_type);
        return Err(format!("column '{name}' is of type {of_own}, but {of_first} in {first}; --schema sets both"));
    }
    field.nullable |= own.nullable;
    Ok(())
}
