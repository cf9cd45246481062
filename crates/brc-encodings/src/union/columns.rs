//! Matches the columns of several tables.

use super::{ConstantColumn, UnionOptions};
use brc_core::{Error, Field, LeftOut, LogicalType, Result, Schema};
use brc_text::Form;
use std::collections::HashMap;
use std::path::Path;

/// The origin of a column's values in the rows of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The table's column at this position.
    Column(usize),
    /// The value of this constant column for the table.
    Constant(usize),
    /// All are null.
    Missing,
}

/// The columns of all tables, which are identified by their paths.
///
/// # Errors
/// [`Error::Usage`] if a table's columns differ from the first table's, [`Error::TypeMismatch`] if their types differ.
pub(super) fn combine(tables: &[(&Path, &Schema)], options: &UnionOptions) -> Result<Schema> {
    let tables: Vec<OwnColumns<'_>> =
        tables.iter().map(|(path, schema)| OwnColumns::new(path, schema, options)).collect();
    let mut fields = if options.by_name { by_name(&tables)? } else { by_position(&tables)? };
    fields.extend(options.constants.iter().map(|constant| constant.field().clone()));
    let tables: Vec<_> = tables.iter().map(|own| (own.path, own.schema)).collect();
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
    let forms = forms(&schema, &tables);
    Ok(schema.without(left_out).with_metadata(forms))
}

/// The column metadata on the form of values, where all tables agree.
fn forms(schema: &Schema, tables: &[(&Path, &Schema)]) -> Vec<(String, String)> {
    let of_tables: Vec<_> = tables.iter().map(|(_, schema)| (schema, Form::of_columns(schema))).collect();
    let form = |field: &Field| {
        let mut own = of_tables.iter().filter_map(|(schema, forms)| schema.index_of(&field.name).map(|at| forms[at]));
        let form = own.next()??;
        own.all(|other| other == Some(form)).then(|| form.metadata(&field.name))
    };
    schema.fields().iter().filter_map(form).collect()
}

/// The origins of the columns of `schema` in a table with its own columns and these constants.
pub(super) fn origins(schema: &Schema, own: &Schema, constants: &[ConstantColumn]) -> Vec<Origin> {
    let positions: HashMap<_, _> = own.fields().iter().enumerate().map(|(at, field)| (&field.name, at)).collect();
    let origin = |field: &Field| {
        let constant = constants.iter().position(|constant| constant.field().name == field.name);
        let own = || positions.get(&field.name).map_or(Origin::Missing, |&at| Origin::Column(at));
        constant.map_or_else(own, Origin::Constant)
    };
    schema.fields().iter().map(origin).collect()
}

/// The columns of a table, without those that constants replace.
struct OwnColumns<'a> {
    path: &'a Path,
    schema: &'a Schema,
    fields: Vec<&'a Field>,
}

impl<'a> OwnColumns<'a> {
    fn new(path: &'a Path, schema: &'a Schema, options: &UnionOptions) -> Self {
        let is_own = |field: &&Field| options.constants.iter().all(|constant| constant.field().name != field.name);
        Self { path, schema, fields: schema.fields().iter().filter(is_own).collect() }
    }
}

fn by_position(tables: &[OwnColumns<'_>]) -> Result<Vec<Field>> {
    let Some((OwnColumns { path: first, fields, .. }, others)) = tables.split_first() else { return Ok(Vec::new()) };
    let mut fields: Vec<Field> = fields.iter().copied().cloned().collect();
    for OwnColumns { path, fields: others, .. } in others {
        let differs = |reason: String| Error::Usage(format!("{}: {reason}", path.display()));
        let (path_of_first, hint) = (first.display(), "--union-by-name matches columns by name");
        for (at, (field, own)) in fields.iter_mut().zip(others).enumerate() {
            if field.name != own.name {
                let (number, own, name) = (at + 1, &own.name, &field.name);
                let reason = format!("column {number} is '{own}', but '{name}' in {path_of_first}; {hint}");
                return Err(differs(reason));
            }
            merge(field, own, first).map_err(|reason| of_types(path, &reason))?;
        }
        if let Some(missing) = fields.get(others.len()) {
            return Err(differs(format!("lacks the column '{}' of {path_of_first}; {hint}", missing.name)));
        }
        if let Some(more) = others.get(fields.len()) {
            return Err(differs(format!("has a column '{}', but {path_of_first} has none; {hint}", more.name)));
        }
    }
    Ok(fields)
}

fn by_name(tables: &[OwnColumns<'_>]) -> Result<Vec<Field>> {
    let mut fields: Vec<Field> = Vec::new();
    // For each column: its position, the first file that has it, and the number of files that have it.
    let mut known: HashMap<&str, (usize, &Path, usize)> = HashMap::new();
    for OwnColumns { path, fields: others, .. } in tables {
        for &own in others {
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

/// The error that a table's column has a different type than in earlier tables.
fn of_types(path: &Path, reason: &str) -> Error {
    Error::type_mismatch(format!("{}: {reason}", path.display()))
}

/// Merges the column of a further file into `field`.
fn merge(field: &mut Field, own: &Field, first: &Path) -> Result<(), String> {
    if field.logical_type != own.logical_type {
        let (name, first) = (&field.name, first.display());
        let (of_own, of_first) = (own.logical_type, field.logical_type);
        return Err(format!("column '{name}' is of type {of_own}, but {of_first} in {first}; --schema sets both"));
    }
    field.nullable |= own.nullable;
    Ok(())
}
