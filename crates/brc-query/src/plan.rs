//! A question bound to the columns of a table: plain data, which may travel to where the table is.

use crate::aggregate::Aggregate;
use crate::aggregates::{Bound, Form, Function, FunctionName};
use crate::group::GroupTable;
use crate::keys::Keys;
use crate::partial::{Partial, Rows};
use crate::result::{OutputColumn, QueryResult};
use crate::states::{State, StateKind};
use crate::totals::ScanTotals;
use brc_core::{
    Error, LogicalType, Order, PhysicalType, Predicate, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split,
    Table, Worker, scan,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What [`crate::Query::plan`] makes of a question. Columns are positions in the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub(crate) schema: Schema,
    pub(crate) keys: Vec<usize>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) filter: Option<String>,
    pub(crate) predicate: Option<Predicate>,
    pub(crate) order_by: Vec<SortKey>,
    pub(crate) limit: Option<u64>,
    pub(crate) statistics: bool,
    pub(crate) timings: bool,
}

/// An aggregate to compute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The function.
    #[serde(serialize_with = "serialize_function", deserialize_with = "deserialize_function")]
    pub function: &'static Function,
    /// The column; none for the number of rows.
    pub column: Option<usize>,
    /// The number that the function takes besides.
    pub(crate) fraction: Option<String>,
}

fn serialize_function<S: Serializer>(function: &&'static Function, serializer: S) -> Result<S::Ok, S::Error> {
    FunctionName::from(*function).serialize(serializer)
}

fn deserialize_function<'a, D: Deserializer<'a>>(deserializer: D) -> Result<&'static Function, D::Error> {
    FunctionName::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
}

impl Output {
    /// How it is computed.
    ///
    /// # Errors
    /// [`Error::Usage`] if it cannot be computed of its column.
    pub(crate) fn bound(&self, schema: &Schema) -> Result<Bound> {
        let field = self.column.map(|column| schema.fields().get(column).ok_or_else(Plan::unlike)).transpose()?;
        let is_complete = self.column.is_some() || self.function.form == Form::Rows;
        let bound = if is_complete { (self.function.bind)(field) } else { Err("a column") };
        bound.map_err(|needed| Error::Usage(format!("{} needs {needed}", self.name(schema))))
    }

    /// How it is written.
    fn name(&self, schema: &Schema) -> String {
        let column = self.column.and_then(|column| schema.fields().get(column)).map(|field| field.name.clone());
        Aggregate { function: self.function, column, fraction: self.fraction.clone() }.to_string()
    }

    pub(crate) fn scale(&self, schema: &Schema) -> u8 {
        self.column.and_then(|column| schema.fields().get(column)).map_or(0, |field| field.logical_type.scale())
    }

    pub(crate) fn fraction(&self) -> f64 {
        self.fraction.as_deref().and_then(|fraction| fraction.parse().ok()).unwrap_or(0.0)
    }
}

/// An output column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortKey {
    /// Its position in [`Plan::columns`].
    pub column: usize,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Plan {
    /// The columns of the table that this is a plan for.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The columns to group by.
    #[must_use]
    pub fn keys(&self) -> &[usize] {
        &self.keys
    }

    /// What is computed for each group.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The filter as the user wrote it.
    #[must_use]
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_deref()
    }

    /// The filter as it is applied.
    #[must_use]
    pub fn predicate(&self) -> Option<&Predicate> {
        self.predicate.as_ref()
    }

    /// By what the answer is sorted before the keys.
    #[must_use]
    pub fn order_by(&self) -> &[SortKey] {
        &self.order_by
    }

    /// How many rows are wanted.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// The columns of the answer: first the keys, then the aggregates.
    #[must_use]
    pub fn columns(&self) -> Vec<OutputColumn> {
        let fields = self.schema.fields();
        let keys = self
            .keys
            .iter()
            .map(|&key| OutputColumn { name: fields[key].name.clone(), logical_type: fields[key].logical_type });
        let aggregates = self.outputs.iter().filter_map(|output| {
            let logical_type = output.bound(&self.schema).ok()?.output;
            Some(OutputColumn { name: output.name(&self.schema), logical_type })
        });
        keys.chain(aggregates).collect()
    }

    /// Whether the answer fits the official line of the One Billion Row Challenge: one string key, and exactly min, mean
    /// and max of one column of numbers.
    #[must_use]
    pub fn is_one_brc(&self) -> bool {
        let one_string = matches!(self.keys[..], [key] if self.is_text(key));
        let functions = self.outputs.iter().map(|output| output.function.name);
        let one_column = self.outputs.windows(2).all(|pair| pair[0].column == pair[1].column);
        one_string && one_column && functions.eq(["min", "mean", "max"])
    }

    /// What is asked of the table's scan.
    #[must_use]
    pub fn scan_options(&self) -> ScanOptions {
        let sums = self.sums_suffice();
        ScanOptions {
            projection: self.projection(),
            predicate: self.predicate.clone(),
            statistics: self.statistics && sums,
            sums,
            order: Order::Any,
        }
    }

    /// Whether sums, bounds and counts of rows are enough to answer: of integers, by keys that are strings. The statistics
    /// of a number do not tell which groups there are. Where there are nulls, nobody sums up.
    fn sums_suffice(&self) -> bool {
        let logical_type = |column: usize| self.schema.fields()[column].logical_type;
        let keys = self.keys.iter().all(|&key| self.is_text(key));
        let states = self.states().into_iter().all(|(_, kind)| matches!(kind, StateKind::Integers | StateKind::Counts));
        let columns =
            self.projection().into_iter().all(|column| self.is_text(column) || logical_type(column).fits_64_bits());
        keys && states && columns
    }

    /// Asks a table.
    ///
    /// # Errors
    /// If the table has other columns than the plan is for, or what goes wrong while scanning it.
    pub fn run(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<QueryResult> {
        let (partial, totals) = self.partial(table, threads, progress)?;
        self.answer([partial], totals)
    }

    /// Scans a table: the first half of [`Plan::run`].
    ///
    /// # Errors
    /// As for [`Plan::run`]; [`Error::Widened`] if the table turns out to be of other columns while it is scanned: a plan
    /// for those is needed ([`crate::Query::ask`]).
    pub fn partial(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<(Partial, ScanTotals)> {
        self.check()?;
        let inferred = table.inferred();
        let schema = inferred.as_deref().unwrap_or(table.schema());
        if !self.is_for(schema) {
            return Err(match inferred {
                Some(_) => Error::Widened,
                None => {
                    let expected = &self.schema;
                    Error::Usage(format!("the table's columns are {schema}, but the plan is for {expected}"))
                }
            });
        }
        let new_worker = || QueryWorker { groups: GroupTable::new(self, table.path()), totals: ScanTotals::default() };
        let workers = scan(table, &self.scan_options(), threads, progress, new_worker)?;
        let mut totals = ScanTotals::default();
        let mut merged = self.no_groups();
        for mut worker in workers {
            worker.totals.aggregate_time = worker.groups.time();
            totals.add(&worker.totals);
            merged.merge(worker.groups.finish())?;
        }
        Ok((merged, totals))
    }

    /// Merges the partials of several scans and sorts: the second half of [`Plan::run`].
    ///
    /// # Errors
    /// [`Error::Usage`] if a partial is not of this plan.
    pub fn answer(&self, partials: impl IntoIterator<Item = Partial>, totals: ScanTotals) -> Result<QueryResult> {
        self.check()?;
        let mut merged = self.no_groups();
        for partial in partials {
            merged.merge(partial)?;
        }
        QueryResult::new(self, merged, totals)
    }

    /// What is kept of which columns for each group, each once.
    pub(crate) fn states(&self) -> Vec<(usize, StateKind)> {
        let state = |output: &Output| Some((output.column?, output.bound(&self.schema).ok()?.state?));
        distinct(self.outputs.iter().filter_map(state))
    }

    /// How the rows of groups are counted.
    pub(crate) fn rows(&self) -> Rows {
        let logical_type = |column: usize| self.schema.fields()[column].logical_type;
        let tells =
            |&(column, kind): &(usize, StateKind)| kind == StateKind::Integers && logical_type(column).fits_64_bits();
        Rows { state: self.states().iter().position(tells), ..Rows::default() }
    }

    /// The types of the keys, each with whether it may be null.
    pub(crate) fn key_types(&self) -> Vec<(LogicalType, bool)> {
        let field = |&key: &usize| &self.schema.fields()[key];
        self.keys.iter().map(field).map(|field| (field.logical_type, field.nullable)).collect()
    }

    /// The columns that a scan has to deliver, each once: keys, then aggregated ones, then those filtered by.
    pub(crate) fn projection(&self) -> Vec<usize> {
        let mut filtered = Vec::new();
        if let Some(predicate) = &self.predicate {
            predicate.columns(&mut filtered);
        }
        let aggregated = self.states().into_iter().map(|(column, _)| column);
        distinct(self.keys.iter().copied().chain(aggregated).chain(filtered))
    }

    pub(crate) fn no_groups(&self) -> Partial {
        let fields = self.schema.fields();
        let states = self.states().into_iter().map(|(column, kind)| State::new(kind, fields[column].logical_type));
        Partial::new(Keys::new(&self.key_types()).finish(), self.rows(), states.collect())
    }

    /// Whether rows of these columns are what the plan is for, as far as it looks at them.
    pub(crate) fn is_for(&self, schema: &Schema) -> bool {
        let (ours, theirs) = (self.schema.fields(), schema.fields());
        let fits = |&column: &usize| ours[column].nullable || !theirs[column].nullable;
        let is_like = |&column: &usize| {
            let (ours, theirs) = (&ours[column], &theirs[column]);
            ours.name == theirs.name && ours.logical_type == theirs.logical_type
        };
        let columns = self.projection();
        ours.len() == theirs.len() && columns.iter().all(is_like) && columns.iter().all(fits)
    }

    /// Whether a column, which the schema has, is of strings.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        self.schema.fields()[column].logical_type.physical() == PhysicalType::Bytes
    }

    /// A plan may come from elsewhere: sees to it that its columns are there and of the right types.
    fn check(&self) -> Result<()> {
        let fields = self.schema.fields();
        let keys = self.keys.iter().all(|&key| key < fields.len());
        let outputs = self.outputs.iter().all(|output| output.bound(&self.schema).is_ok());
        let sorted = self.order_by.iter().all(|key| key.column < self.keys.len() + self.outputs.len());
        let predicate = self.predicate.as_ref().is_none_or(|predicate| predicate_fits(predicate, &self.schema));
        if keys && outputs && sorted && predicate { Ok(()) } else { Err(Self::unlike()) }
    }

    fn unlike() -> Error {
        Error::Usage("the plan names columns that its schema does not have".to_owned())
    }
}

fn predicate_fits(predicate: &Predicate, schema: &Schema) -> bool {
    let logical_type = |column: usize| schema.fields().get(column).map(|field| field.logical_type.physical());
    match predicate {
        Predicate::Constant(_) => true,
        Predicate::Range { column, .. } => {
            matches!(logical_type(*column), Some(PhysicalType::Integers | PhysicalType::Floats))
        }
        Predicate::Compare { column, .. } => logical_type(*column) == Some(PhysicalType::Bytes),
        Predicate::IsNull { column } => logical_type(*column).is_some(),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(|part| predicate_fits(part, schema)),
        Predicate::Not(part) => predicate_fits(part, schema),
    }
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

struct QueryWorker<'a> {
    groups: GroupTable<'a>,
    totals: ScanTotals,
}

impl Worker for QueryWorker<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        &mut self.groups
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.totals.add(&ScanTotals::from(&scanned));
        Ok(())
    }
}
