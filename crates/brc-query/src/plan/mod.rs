//! A query is planned once and run anywhere: a plan is bound to the columns of a table, and is plain data that may
//! travel to where the table is.
//!
//! In: a `Query` and a schema. Out: a `Plan`.
//!
//! A column of rows is given by its position in the schema; computed columns follow those of the schema. A column of
//! groups is given by its position among the keys and then the aggregates.
//!
//! Where to look:
//!
//! - what a plan says (`Plan`, `OutputExpression`, `SortKey`): `mod.rs`
//! - how a query becomes a plan: `planner.rs`
//! - which states its aggregates need: `states.rs`
//! - what a query does with columns, for notes: `uses.rs`
//! - whether a plan from another process makes sense: `check.rs`

mod check;
mod planner;
mod states;
mod uses;

use crate::aggregates::AggregateCall;
use crate::bind::inputs::{Computed, Source};
use crate::functions::typed::{Node, Typed};
use crate::runtime::memory::{Allowance, Memory};
use crate::sql::query::Pick;
use brc_core::{Error, Field, LogicalType, PhysicalType, Predicate, Result, Schema, Split};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::hash::Hash;

/// A query bound to the schema of a table, made by [`crate::Query::plan`].
///
/// A column of rows is given by its position in the schema; computed columns follow those of the schema. A column of
/// groups is given by its position among the keys and then the aggregates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub(crate) schema: Schema,
    /// The computed columns. The predicate needs the first `conditions` of them.
    pub(crate) computed: Vec<Computed>,
    pub(crate) conditions: usize,
    /// Whether rows are grouped; otherwise each row of the table yields one of the answer.
    pub(crate) grouped: bool,
    pub(crate) keys: Vec<usize>,
    pub(crate) outputs: Vec<AggregateCall>,
    pub(crate) filter: Option<String>,
    pub(crate) predicate: Option<Predicate>,
    pub(crate) having: Option<Typed>,
    pub(crate) columns: Vec<OutputExpression>,
    pub(crate) distinct: bool,
    pub(crate) order_by: Vec<SortKey>,
    pub(crate) offset: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) pick: Pick,
    pub(crate) statistics: bool,
    pub(crate) timings: bool,
    #[serde(skip)]
    pub(crate) allowance: Allowance,
    /// The splits to scan; all of the table's if `None`.
    #[serde(skip)]
    pub(crate) splits: Option<Vec<Split>>,
}

/// An output column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutputExpression {
    pub(crate) name: String,
    /// The expression over the columns of groups, or of rows.
    pub(crate) value: Typed,
}

/// An expression by which the answer is sorted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SortKey {
    pub(crate) value: Typed,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

impl Plan {
    /// The same plan with this memory limit for computed strings. The limit is not serialised.
    #[must_use]
    pub fn within(self, memory: &Memory) -> Self {
        Self { allowance: Allowance(memory.limit), ..self }
    }

    /// The same plan for these splits of the table only, in ascending order. They are not serialised.
    #[must_use]
    pub fn over(self, splits: Vec<Split>) -> Self {
        Self { splits: Some(splits), ..self }
    }

    /// The schema of the table.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether rows are grouped; otherwise each row of the table yields one of the answer.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        self.grouped
    }

    /// The names of the keys by which rows are grouped.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let fields = self.fields();
        self.keys.iter().map(|&key| fields[key].name.clone()).collect()
    }

    /// The names of the aggregates of each group.
    #[must_use]
    pub fn aggregates(&self) -> Vec<String> {
        let fields = self.fields();
        self.outputs.iter().map(|output| output.name(&fields)).collect()
    }

    /// The filter as the user wrote it.
    #[must_use]
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_deref()
    }

    /// The columns of the answer. The name of each is its alias or that of its column, else the text of its expression.
    #[must_use]
    pub fn columns(&self) -> Vec<Field> {
        let column = |answer: &OutputExpression| {
            let OutputExpression { name, value } = answer;
            Field { name: name.clone(), logical_type: value.logical_type, nullable: value.nullable }
        };
        self.columns.iter().map(column).collect()
    }

    /// For each column of the answer, its position in the table; `None` for a computed column, or if rows are grouped.
    #[must_use]
    pub fn table_columns(&self) -> Vec<Option<usize>> {
        let column = |answer: &OutputExpression| match answer.value.node {
            Node::Column(place) if !self.grouped && place < self.schema.fields().len() => Some(place),
            _ => None,
        };
        self.columns.iter().map(column).collect()
    }

    /// The schema of the answer.
    ///
    /// # Errors
    /// [`Error::Usage`] if a table cannot have columns of these names.
    pub fn answer_schema(&self) -> Result<Schema> {
        Schema::new(self.columns()).map_err(|error| Error::Usage(error.to_string()))
    }

    /// Whether the answer fits the official line of the One Billion Row Challenge: one string key, and exactly min,
    /// mean and max of one column of numbers.
    #[must_use]
    pub fn is_one_brc(&self) -> bool {
        let one_string = matches!(self.keys[..], [key] if self.is_text(key));
        let functions = self.outputs.iter().map(|output| output.function.name);
        let one_column = self.outputs.windows(2).all(|pair| pair[0].columns == pair[1].columns);
        let mut shown = self.columns.iter().enumerate();
        let as_computed = self.columns.len() == 4 && shown.all(|(place, it)| it.value.node == Node::Column(place));
        self.grouped && one_string && one_column && as_computed && functions.eq(["min", "mean", "max"])
    }

    /// All columns of rows: those of the table, then the computed ones.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let computed = self.computed.iter().map(|computed| &computed.field);
        self.schema.fields().iter().chain(computed).cloned().collect()
    }

    /// The columns of groups.
    pub(crate) fn group_fields(&self) -> Vec<Field> {
        let fields = self.fields();
        let keys = self.keys.iter().map(|&key| fields[key].clone());
        let outputs = self.outputs.iter().filter_map(|output| {
            let logical_type = output.bind(&fields).ok()?.output;
            Some(Field { name: output.name(&fields), logical_type, nullable: true })
        });
        keys.chain(outputs).collect()
    }

    /// The types of the keys, each with whether it may be null.
    pub(crate) fn key_types(&self) -> Vec<(LogicalType, bool)> {
        let fields = self.fields();
        let field = |&key: &usize| &fields[key];
        self.keys.iter().map(field).map(|field| (field.logical_type, field.nullable)).collect()
    }

    /// The columns of batches when they are grouped: those of the scan, then the computed ones.
    pub(crate) fn batch_columns(&self) -> Vec<usize> {
        let computed = (0..self.computed.len()).map(|place| self.schema.fields().len() + place);
        self.projection().into_iter().chain(computed).collect()
    }

    /// The computed columns among keys and aggregated columns, with their indices in [`Plan::computed`].
    pub(crate) fn grouped_sources(&self) -> (Vec<usize>, Vec<Computed>) {
        let of_table = self.schema.fields().len();
        let aggregated = self.outputs.iter().flat_map(|output| &output.columns);
        let used: HashSet<usize> = self.keys.iter().chain(aggregated).copied().collect();
        let is_used = |place: &usize| used.contains(&(of_table + place));
        (0..self.computed.len()).filter(is_used).map(|place| (place, self.computed[place].clone())).unzip()
    }

    /// The columns that keys and aggregates use, with duplicates.
    pub(crate) fn grouped_columns(&self) -> Vec<usize> {
        let aggregated = self.outputs.iter().flat_map(|output| output.columns.iter().copied());
        let mut columns: Vec<usize> = self.keys.iter().copied().chain(aggregated).collect();
        for computed in self.grouped_sources().1 {
            if let Source::Expression(typed) = &computed.source {
                typed.columns(&mut columns);
            }
        }
        columns
    }

    /// The columns that a scan has to deliver, without duplicates: keys, then aggregated columns, then those of the
    /// predicate, then those that computed columns use.
    pub(crate) fn projection(&self) -> Vec<usize> {
        let mut others = Vec::new();
        if let Some(predicate) = &self.predicate {
            predicate.columns(&mut others);
        }
        for computed in &self.computed {
            if let Source::Expression(typed) = &computed.source {
                typed.columns(&mut others);
            }
        }
        if !self.grouped {
            let columns = self.columns.iter().map(|answer| &answer.value);
            columns.chain(self.order_by.iter().map(|key| &key.value)).for_each(|value| value.columns(&mut others));
        }
        let aggregated = self.states().into_iter().flat_map(|(columns, _)| columns);
        let all = distinct(self.keys.iter().copied().chain(aggregated).chain(others));
        all.into_iter().filter(|&column| column < self.schema.fields().len()).collect()
    }

    /// The same plan with other groups: all of them, in any order.
    pub(crate) fn with_keys(&self, keys: Vec<usize>, outputs: Vec<AggregateCall>) -> Self {
        Self {
            keys,
            outputs,
            having: None,
            columns: Vec::new(),
            distinct: false,
            order_by: Vec::new(),
            offset: 0,
            limit: None,
            ..self.clone()
        }
    }

    /// Whether the plan fits a table of this schema. Only the columns it uses have to match.
    pub(crate) fn is_for(&self, schema: &Schema) -> bool {
        let (ours, theirs) = (self.schema.fields(), schema.fields());
        let fits = |&column: &usize| ours[column].nullable || !theirs[column].nullable;
        let is_like = |&column: &usize| {
            let (ours, theirs) = (&ours[column], &theirs[column]);
            ours.name == theirs.name && ours.logical_type == theirs.logical_type
        };
        let columns = self.projection();
        // Metadata has the text forms of columns, on which their values depend.
        let is_same_table = ours.len() == theirs.len() && self.schema.metadata() == schema.metadata();
        is_same_table && columns.iter().all(is_like) && columns.iter().all(fits)
    }

    /// Whether a column of rows has strings.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        let logical_type = match column.checked_sub(self.schema.fields().len()) {
            Some(computed) => self.computed[computed].field.logical_type,
            None => self.schema.fields()[column].logical_type,
        };
        logical_type.physical() == PhysicalType::Bytes
    }
}

/// The items without duplicates, in order of first appearance.
fn distinct<T: Clone + Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}
