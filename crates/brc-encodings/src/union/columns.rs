//! Matches the columns of several tables.

use super::common_type::{TypedColumn, common_type, conflict, typed_column};
use super::conversion::Conversion;
use super::{ConstantColumn, UnionOptions};
use brc_core::names::numbered_names;
use brc_core::{Error, Field, LogicalType, Result, Schema, Table, UnsupportedColumn, current_schema};
use brc_text::Form;
use std::collections::HashMap;
use std::fmt::Display;

/// The origin of a column's values in the rows of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A column of the table.
    Column {
        /// Its position in the table.
        own: usize,
        /// How its values become values of the union's type; `None` if they stay as they are.
        conversion: Option<Conversion>,
    },
    /// The value of this constant column for the table.
    Constant(usize),
    /// All are null.
    Missing,
}

impl Origin {
    /// Whether values of the table are converted.
    pub(super) fn is_converted(self) -> bool {
        matches!(self, Self::Column { conversion: Some(conversion), .. } if conversion != Conversion::Unchanged)
    }
}

/// The columns of all tables, each with its current schema.
///
/// # Errors
/// [`Error::Usage`] if a table's columns differ from the first table's, [`Error::TypeMismatch`] if no type holds the
/// values of a column in all tables.
pub(super) fn combine(tables: &[(&dyn Table, &Schema)], options: &UnionOptions) -> Result<Schema> {
    let tables: Vec<OwnColumns<'_>> =
        tables.iter().map(|(table, schema)| OwnColumns::new(*table, schema, options)).collect();
    let mut fields = if options.by_name { by_name(&tables)? } else { by_position(&tables)? };
    fields.extend(options.constants.iter().map(|constant| constant.field().clone()));
    if let Some(name) = &options.file_name {
        if fields.iter().any(|field| field.name == *name) {
            return Err(Error::Usage(format!("--file-name {name}: there is a column of that name")));
        }
        fields.push(Field::required(name.as_str(), LogicalType::String));
    }
    let mut unsupported_columns: Vec<UnsupportedColumn> = Vec::new();
    for column in tables.iter().flat_map(|own| own.schema.unsupported_columns()) {
        if !unsupported_columns.iter().any(|known| known.name == column.name) {
            unsupported_columns.push(column.clone());
        }
    }
    let schema = Schema::new(fields).map_err(|error| Error::Usage(error.to_string()))?;
    let forms = forms(&schema, &tables);
    Ok(schema.without(unsupported_columns).with_metadata(forms))
}

/// Whether a column of a table without values so far has another type in the union.
pub(super) fn gives_type(schema: &Schema, table: &dyn Table) -> bool {
    let own = current_schema(table);
    own.fields().iter().enumerate().any(|(at, own)| {
        let common = schema.index_of(&own.name).map(|common| schema.fields()[common].logical_type);
        table.is_untyped(at) && common.is_some_and(|common| common != own.logical_type)
    })
}

/// The column metadata on the form of values, where all tables agree.
fn forms(schema: &Schema, tables: &[OwnColumns<'_>]) -> Vec<(String, String)> {
    let of_tables: Vec<_> = tables.iter().map(|own| (own.schema, Form::of_columns(own.schema))).collect();
    let form = |field: &Field| {
        let mut own = of_tables.iter().filter_map(|(schema, forms)| schema.index_of(&field.name).map(|at| forms[at]));
        let form = own.next()??;
        own.all(|other| other == Some(form)).then(|| form.metadata(&field.name))
    };
    schema.fields().iter().filter_map(form).collect()
}

/// The origins of the columns of `schema` in a table with its own columns and these constants. `conversion` is called
/// for types that differ: with the position in the table, the table's type, and the one in `schema`.
pub(super) fn origins(
    schema: &Schema,
    own: &Schema,
    constants: &[ConstantColumn],
    conversion: impl Fn(usize, LogicalType, LogicalType) -> Option<Conversion>,
) -> Vec<Origin> {
    let positions: HashMap<_, _> = own.fields().iter().enumerate().map(|(at, field)| (&field.name, at)).collect();
    let of_own = |at: usize, common: LogicalType| {
        let own_type = own.fields()[at].logical_type;
        if own_type == common { None } else { conversion(at, own_type, common) }
    };
    let origin = |field: &Field| {
        let constant = constants.iter().position(|constant| constant.field().name == field.name);
        let own = || match positions.get(&field.name) {
            Some(&at) => Origin::Column { own: at, conversion: of_own(at, field.logical_type) },
            None => Origin::Missing,
        };
        constant.map_or_else(own, Origin::Constant)
    };
    schema.fields().iter().map(origin).collect()
}

/// The columns of a table, without those that constants replace.
struct OwnColumns<'a> {
    table: &'a dyn Table,
    schema: &'a Schema,
    fields: Vec<&'a Field>,
}

impl<'a> OwnColumns<'a> {
    fn new(table: &'a dyn Table, schema: &'a Schema, options: &UnionOptions) -> Self {
        let is_own = |field: &&Field| options.constants.iter().all(|constant| constant.field().name != field.name);
        Self { table, schema, fields: schema.fields().iter().filter(is_own).collect() }
    }

    /// Whether the columns have the names of a text without a header.
    fn has_numbered_names(&self) -> bool {
        self.fields.iter().map(|field| &field.name).eq(&numbered_names(self.fields.len()))
    }

    /// The column of that name, if it has one.
    fn typed(&self, name: &str) -> Option<TypedColumn> {
        let at = self.schema.index_of(name)?;
        Some(typed_column(self.table, at, self.schema.fields()[at].logical_type))
    }

    fn differs(&self, reason: impl Display) -> Error {
        Error::Usage(format!("{}: {reason}", self.table.path().display()))
    }
}

fn by_position(tables: &[OwnColumns<'_>]) -> Result<Vec<Field>> {
    let Some((first, others)) = tables.split_first() else { return Ok(Vec::new()) };
    let mut fields: Vec<MergedField> = first.fields.iter().map(|own| MergedField::new(own)).collect();
    for own in others {
        let path_of_first = first.table.path().display();
        let hint =
            match own.has_numbered_names() != first.has_numbered_names() && own.fields.len() == first.fields.len() {
                true => "one of them seems to have no header; --names gives both the same names",
                false => "--union-by-name matches columns by name",
            };
        for (at, (merged, own_field)) in fields.iter_mut().zip(&own.fields).enumerate() {
            let (own_name, name) = (&own_field.name, &merged.field.name);
            if name != own_name {
                let number = at + 1;
                let reason = format!("column {number} is '{own_name}', but '{name}' in {path_of_first}; {hint}");
                return Err(own.differs(reason));
            }
            merged.merge(own_field);
        }
        if let Some(MergedField { field, .. }) = fields.get(own.fields.len()) {
            return Err(own.differs(format!("lacks the column '{}' of {path_of_first}; {hint}", field.name)));
        }
        if let Some(more) = own.fields.get(fields.len()) {
            return Err(own.differs(format!("has a column '{}', but {path_of_first} has none; {hint}", more.name)));
        }
    }
    fields.into_iter().map(|merged| merged.finish(tables)).collect()
}

fn by_name(tables: &[OwnColumns<'_>]) -> Result<Vec<Field>> {
    let mut fields: Vec<MergedField> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for own in tables.iter().flat_map(|own| &own.fields) {
        let at = *positions.entry(&own.name).or_insert(fields.len());
        match fields.get_mut(at) {
            Some(merged) => merged.merge(own),
            None => fields.push(MergedField::new(own)),
        }
    }
    for merged in &mut fields {
        merged.field.nullable |= merged.tables < tables.len();
    }
    fields.into_iter().map(|merged| merged.finish(tables)).collect()
}

/// A column of several tables.
struct MergedField {
    field: Field,
    /// The number of tables that have it.
    tables: usize,
    /// Whether some of them have different types.
    has_several_types: bool,
}

impl MergedField {
    fn new(first: &Field) -> Self {
        Self { field: first.clone(), tables: 1, has_several_types: false }
    }

    /// Merges the column of a further table.
    fn merge(&mut self, own: &Field) {
        self.tables += 1;
        self.field.nullable |= own.nullable;
        self.has_several_types |= self.field.logical_type != own.logical_type;
    }

    /// The column in the union of the tables.
    fn finish(mut self, tables: &[OwnColumns<'_>]) -> Result<Field> {
        if self.has_several_types {
            self.field.logical_type = self.common_type(tables)?;
        }
        Ok(self.field)
    }

    fn common_type(&self, tables: &[OwnColumns<'_>]) -> Result<LogicalType> {
        let name = &self.field.name;
        let typed = tables.iter().filter_map(|own| Some((own.table, own.typed(name)?)));
        let (having, columns): (Vec<_>, Vec<_>) = typed.unzip();
        common_type(&columns).ok_or_else(|| {
            let (first, second) = conflict(&columns);
            let [(of_first, _), (of_second, _)] = [columns[first], columns[second]];
            let [one, other] = [having[first], having[second]];
            let (path, path_of_first) = (other.path().display(), one.path().display());
            let remedy = match one.inferred().or_else(|| other.inferred()) {
                Some(_) => "--type sets that of a text",
                None => "brc query can cast it in one of them, and --output saves that",
            };
            let finer = [(of_first, of_second), (of_second, of_first)].into_iter().find(|(own, finer)| {
                matches!(finer, LogicalType::Timestamp { .. }) && Conversion::between(*own, *finer).is_some()
            });
            let reason = finer.map(|(_, finer)| format!("{finer} may not hold the years of both; "));
            let reason = reason.unwrap_or_default();
            Error::type_mismatch(format!(
                "{path}: column '{name}' is of type {of_second}, but {of_first} in {path_of_first}; {reason}{remedy}"
            ))
        })
    }
}
