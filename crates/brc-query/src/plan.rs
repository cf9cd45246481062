//! A question bound to the columns of a table: plain data, which may travel to where the table is.

use crate::aggregates::{AggregateFunction, Bound, FunctionName};
use crate::conditions::Condition;
use crate::inputs::{Computed, Source};
use crate::keys::Keys;
use crate::memory::{Allowance, Memory};
use crate::node::{Node, Typed};
use crate::partial::{Partial, Rows};
use crate::query::Pick;
use crate::result::OutputColumn;
use crate::result_table;
use crate::states::{State, StateKind};
use brc_core::{Error, Field, LogicalType, Order, PhysicalType, Predicate, Result, ScanOptions, Schema, Split};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// What [`crate::Query::plan`] makes of a question.
///
/// Columns are positions in the schema, and behind them those of what is computed of each row. What is computed of groups
/// has columns of its own: keys, then aggregates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub(crate) schema: Schema,
    /// Columns that are computed of those of the table. The first `conditions` of them are what the predicate needs.
    pub(crate) computed: Vec<Computed>,
    pub(crate) conditions: usize,
    /// Whether rows are grouped; else each row gives one of the answer.
    pub(crate) grouped: bool,
    pub(crate) keys: Vec<usize>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) filter: Option<String>,
    pub(crate) predicate: Option<Predicate>,
    pub(crate) having: Option<Typed>,
    pub(crate) columns: Vec<Answer>,
    pub(crate) distinct: bool,
    pub(crate) order_by: Vec<SortKey>,
    pub(crate) offset: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) pick: Pick,
    pub(crate) statistics: bool,
    pub(crate) timings: bool,
    #[serde(skip)]
    pub(crate) allowance: Allowance,
    /// The splits that are asked; all of the table's if `None`.
    #[serde(skip)]
    pub(crate) splits: Option<Vec<Split>>,
}

/// An aggregate to compute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Output {
    /// The function.
    #[serde(serialize_with = "serialize_function", deserialize_with = "deserialize_function")]
    pub(crate) function: &'static AggregateFunction,
    /// The columns of its arguments; none for the number of rows.
    pub(crate) columns: Vec<usize>,
    /// The constant that the function takes besides.
    pub(crate) parameter: Option<String>,
}

fn serialize_function<S: Serializer>(function: &&'static AggregateFunction, serializer: S) -> Result<S::Ok, S::Error> {
    FunctionName::from(*function).serialize(serializer)
}

fn deserialize_function<'a, D: Deserializer<'a>>(deserializer: D) -> Result<&'static AggregateFunction, D::Error> {
    FunctionName::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
}

impl Output {
    /// How it is computed.
    ///
    /// # Errors
    /// What it needs in place of its columns.
    pub(crate) fn bind(&self, fields: &[Field]) -> Result<Bound, &'static str> {
        let arguments = self.columns.iter().map(|&column| fields.get(column)).collect::<Option<Vec<_>>>();
        let mut bound = (self.function.bind)(&arguments.ok_or("a column")?)?;
        if let Some(StateKind::Largest(most)) = &mut bound.state {
            let wanted = self.parameter.as_deref().and_then(|parameter| parameter.parse().ok());
            *most = wanted.ok_or("how many values")?;
        }
        Ok(bound)
    }

    /// How it is told in messages.
    pub(crate) fn name(&self, fields: &[Field]) -> String {
        let columns = self.columns.iter().filter_map(|&column| fields.get(column)).map(|field| field.name.as_str());
        let shown: Vec<&str> = columns.take(self.function.form.columns()).chain(self.parameter.as_deref()).collect();
        format!("{}({})", self.function.name, shown.join(", "))
    }

    pub(crate) fn scales(&self, fields: &[Field]) -> [u8; 2] {
        [0, 1].map(|argument| {
            let field = self.columns.get(argument).and_then(|&column| fields.get(column));
            field.map_or(0, |field| field.logical_type.scale())
        })
    }
}

/// An output column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) name: String,
    /// What it is, of groups or of rows.
    pub(crate) value: Typed,
}

/// What an answer is sorted by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SortKey {
    pub(crate) value: Typed,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

impl Plan {
    /// The same plan, of which strings are computed with no more memory than that. It stays here if the plan travels.
    #[must_use]
    pub fn within(self, memory: &Memory) -> Self {
        Self { allowance: Allowance(memory.limit), ..self }
    }

    /// The same plan for these splits of the table only, in ascending order. It stays here if the plan travels.
    #[must_use]
    pub fn over(self, splits: Vec<Split>) -> Self {
        Self { splits: Some(splits), ..self }
    }

    /// The columns of the table that this is a plan for.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether rows are grouped; else each row gives one of the answer.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        self.grouped
    }

    /// The names of what rows are grouped by.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let fields = self.fields();
        self.keys.iter().map(|&key| fields[key].name.clone()).collect()
    }

    /// The names of what is computed for each group.
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

    /// The columns of the answer.
    #[must_use]
    pub fn columns(&self) -> Vec<OutputColumn> {
        let column = |answer: &Answer| {
            let Answer { name, value } = answer;
            OutputColumn { name: name.clone(), logical_type: value.logical_type, nullable: value.nullable }
        };
        self.columns.iter().map(column).collect()
    }

    /// For each column of the answer, which column of the table it is, if rows of the table are the answer; `None` is what is
    /// computed, and what is said of groups.
    #[must_use]
    pub fn table_columns(&self) -> Vec<Option<usize>> {
        let column = |answer: &Answer| match answer.value.node {
            Node::Column(place) if !self.grouped && place < self.schema.fields().len() => Some(place),
            _ => None,
        };
        self.columns.iter().map(column).collect()
    }

    /// The schema of the answer.
    ///
    /// # Errors
    /// [`Error::Usage`] if a column's name is not one that columns of tables have.
    pub fn answer_schema(&self) -> Result<Schema> {
        result_table::schema(&self.columns())
    }

    /// Whether the answer fits the official line of the One Billion Row Challenge: one string key, and exactly min, mean
    /// and max of one column of numbers.
    #[must_use]
    pub fn is_one_brc(&self) -> bool {
        let one_string = matches!(self.keys[..], [key] if self.is_text(key));
        let functions = self.outputs.iter().map(|output| output.function.name);
        let one_column = self.outputs.windows(2).all(|pair| pair[0].columns == pair[1].columns);
        let mut shown = self.columns.iter().enumerate();
        let as_computed = self.columns.len() == 4 && shown.all(|(place, it)| it.value.node == Node::Column(place));
        self.grouped && one_string && one_column && as_computed && functions.eq(["min", "mean", "max"])
    }

    /// What is asked of the table's scan.
    #[must_use]
    pub fn scan_options(&self) -> ScanOptions {
        let sums = self.sums_suffice();
        ScanOptions {
            projection: self.projection(),
            predicate: self.pushed_down(),
            conjuncts: self.conditions().iter().map(Condition::conjunct).collect(),
            statistics: self.statistics && sums,
            counts: self.statistics && self.takes_weights(),
            sums,
            order: if self.needs_order() { Order::Original } else { Order::Any },
            splits: self.splits.clone(),
        }
    }

    /// What of the predicate the table's scan can skip rows by: all that is no more than comparisons of its columns.
    #[must_use]
    pub fn pushed_down(&self) -> Option<Predicate> {
        let of_table = |predicate: &Predicate| {
            let mut columns = Vec::new();
            predicate.columns(&mut columns);
            columns.iter().all(|&column| column < self.schema.fields().len())
        };
        match self.predicate.as_ref()? {
            Predicate::And(parts) => {
                let parts: Vec<Predicate> = parts.iter().filter(|part| of_table(part)).cloned().collect();
                (!parts.is_empty()).then_some(Predicate::And(parts))
            }
            predicate => of_table(predicate).then(|| predicate.clone()),
        }
    }

    /// Whether sums, bounds and counts of rows are enough to answer: of integers, by keys that are strings. The statistics
    /// of a number do not tell which groups there are. Where there are nulls, nobody sums up.
    fn sums_suffice(&self) -> bool {
        let logical_type = |column: usize| self.schema.fields()[column].logical_type;
        let keys = self.keys.iter().all(|&key| self.is_text(key));
        let states = self
            .states()
            .into_iter()
            .all(|(_, kind)| matches!(kind, StateKind::Integers | StateKind::Sums | StateKind::Counts));
        let columns =
            self.projection().into_iter().all(|column| self.is_text(column) || logical_type(column).fits_64_bits());
        self.grouped && self.computed.is_empty() && keys && states && columns
    }

    /// Whether a row may stand for many equal ones.
    fn takes_weights(&self) -> bool {
        let fields = self.fields();
        let takes = |(columns, kind): (Vec<usize>, StateKind)| State::new(kind, &columns, &fields).takes_weights();
        self.grouped && !self.needs_order() && self.states().into_iter().all(takes)
    }

    /// Whether it matters in which order rows lie in the table.
    fn needs_order(&self) -> bool {
        !self.grouped || self.computed.iter().any(|computed| computed.source == Source::RowNumber)
    }

    /// What is kept of which columns for each group, each once.
    pub(crate) fn states(&self) -> Vec<(Vec<usize>, StateKind)> {
        let fields = self.fields();
        let state = |output: &Output| Some((output.columns.clone(), output.bind(&fields).ok()?.state?));
        let all = distinct(self.outputs.iter().filter_map(state));
        let known: HashSet<&(Vec<usize>, StateKind)> = all.iter().collect();
        let has = |columns: &[usize], kind| known.contains(&(columns.to_vec(), kind));
        let is_needed = |(columns, kind): &&(Vec<usize>, StateKind)| match kind {
            // What also knows bounds knows sums.
            StateKind::Sums => !has(columns, StateKind::Integers),
            StateKind::Moments => !has(columns, StateKind::Values),
            _ => true,
        };
        let combined = |(columns, kind): &(Vec<usize>, StateKind)| match kind {
            StateKind::Values if has(columns, StateKind::Moments) => (columns.clone(), StateKind::ValuesAndMoments),
            _ => (columns.clone(), *kind),
        };
        all.iter().filter(is_needed).map(combined).collect()
    }

    /// Which of all states each aggregate is computed from; `None` if it needs none but the number of rows.
    pub(crate) fn states_of_outputs(&self) -> Vec<Option<usize>> {
        let fields = self.fields();
        let positions: HashMap<_, _> = self.states().into_iter().zip(0..).collect();
        let state = |output: &Output| {
            let kind = output.bind(&fields).ok()?.state?;
            let find = |kind| positions.get(&(output.columns.clone(), kind)).copied();
            find(kind).or_else(|| match kind {
                StateKind::Sums => find(StateKind::Integers),
                StateKind::Values | StateKind::Moments => find(StateKind::ValuesAndMoments),
                _ => None,
            })
        };
        self.outputs.iter().map(state).collect()
    }

    /// The aggregates that keep values of rows, so that there is no limit to what they keep of one group.
    pub(crate) fn keeping(&self) -> Vec<String> {
        let fields = self.fields();
        let keeps = |output: &&Output| {
            let state = output.bind(&fields).ok().and_then(|bound| bound.state);
            state.is_some_and(StateKind::keeps_values)
        };
        self.outputs.iter().filter(keeps).map(|output| output.name(&fields)).collect()
    }

    /// How the rows of groups are counted.
    pub(crate) fn rows(&self) -> Rows {
        let fields = self.fields();
        let tells = |(columns, kind): &(Vec<usize>, StateKind)| {
            *kind == StateKind::Integers && fields[columns[0]].logical_type.fits_64_bits()
        };
        let states = self.states();
        // Those that share rows of state count rows there.
        let shared = states.iter().any(|(columns, kind)| State::new(*kind, columns, &fields).lanes() > 0);
        Rows { state: states.iter().position(tells).filter(|_| !shared), ..Rows::default() }
    }

    /// Whether an answer tells how many rows groups have.
    pub(crate) fn counts_rows(&self) -> bool {
        let fields = self.fields();
        let needs_state = |output: &Output| output.bind(&fields).is_ok_and(|bound| bound.state.is_some());
        !self.outputs.iter().all(needs_state)
    }

    /// All columns: those of the table, and those that are computed.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let computed = self.computed.iter().map(|computed| &computed.field);
        self.schema.fields().iter().chain(computed).cloned().collect()
    }

    /// The columns that groups have.
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

    /// The columns that batches have when they are grouped: those of the scan, then those that are computed.
    pub(crate) fn batch_columns(&self) -> Vec<usize> {
        let computed = (0..self.computed.len()).map(|place| self.schema.fields().len() + place);
        self.projection().into_iter().chain(computed).collect()
    }

    /// What is computed of wanted rows: what is grouped by and aggregated. Each with its place in [`Plan::computed`].
    pub(crate) fn grouped_sources(&self) -> (Vec<usize>, Vec<Computed>) {
        let of_table = self.schema.fields().len();
        let aggregated = self.outputs.iter().flat_map(|output| &output.columns);
        let used: HashSet<usize> = self.keys.iter().chain(aggregated).copied().collect();
        let is_used = |place: &usize| used.contains(&(of_table + place));
        (0..self.computed.len()).filter(is_used).map(|place| (place, self.computed[place].clone())).unzip()
    }

    /// The columns of the table that keys and aggregates are made of; it may name one twice.
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

    /// The columns that a scan has to deliver, each once: keys, then aggregated ones, then those filtered by, then those that
    /// something is computed of.
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

    /// A plan of other groups: all of them, as they are found.
    pub(crate) fn with_keys(&self, keys: Vec<usize>, outputs: Vec<Output>) -> Self {
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

    pub(crate) fn no_groups(&self) -> Partial {
        let fields = self.fields();
        let states = self.states().into_iter().map(|(columns, kind)| State::new(kind, &columns, &fields));
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
        // Metadata tell how values are written, and so which ones they are.
        let is_same_table = ours.len() == theirs.len() && self.schema.metadata() == schema.metadata();
        is_same_table && columns.iter().all(is_like) && columns.iter().all(fits)
    }

    /// Whether a column is of strings.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        let logical_type = match column.checked_sub(self.schema.fields().len()) {
            Some(computed) => self.computed[computed].field.logical_type,
            None => self.schema.fields()[column].logical_type,
        };
        logical_type.physical() == PhysicalType::Bytes
    }

    /// A plan may come from elsewhere: sees to it that its columns are there and of the right types.
    pub(crate) fn check(&self) -> Result<()> {
        let unlike = || Error::Usage("the plan names columns that its schema does not have".to_owned());
        let (of_table, fields) = (self.schema.fields(), self.fields());
        let groups = self.keys.iter().all(|&key| key < fields.len())
            && self.outputs.iter().all(|output| output.bind(&fields).is_ok());
        if !groups {
            return Err(unlike());
        }
        let of_answer = if self.grouped { &self.group_fields() } else { &fields };
        let is_sound = |value: &Typed, fields: &[Field]| is_sound(value, fields);
        let computed = self.computed.iter().all(|computed| match &computed.source {
            Source::RowNumber => computed.field.logical_type == LogicalType::Int64,
            Source::Expression(typed) => typed.logical_type == computed.field.logical_type && is_sound(typed, of_table),
        });
        let values = self.columns.iter().map(|answer| &answer.value).chain(self.order_by.iter().map(|key| &key.value));
        let answer = values.chain(&self.having).all(|value| is_sound(value, of_answer));
        let predicate = self.predicate.as_ref().is_none_or(|predicate| predicate_fits(predicate, &fields));
        let conditions = self.conditions <= self.computed.len();
        if conditions && computed && answer && predicate { Ok(()) } else { Err(unlike()) }
    }
}

/// Whether an expression is of columns that are there, and of their types.
fn is_sound(typed: &Typed, fields: &[Field]) -> bool {
    let here = match &typed.node {
        Node::Column(column) => fields.get(*column).is_some_and(|field| field.logical_type == typed.logical_type),
        Node::Condition(predicate) => predicate_fits(predicate, fields),
        Node::Test { of, test } => predicate_fits(test, &[of.field()]),
        Node::Cast { inner, attempt } => {
            crate::functions::cast::bound(inner.logical_type, typed.logical_type, *attempt).is_some()
        }
        Node::Call { function, arguments } => {
            (function.0.bind)(arguments).is_ok_and(|bound| bound.output == typed.logical_type)
        }
        Node::Literal(_)
        | Node::And(_)
        | Node::Or(_)
        | Node::Not(_)
        | Node::IsNull(_)
        | Node::Case { .. }
        | Node::Coalesce(_) => true,
    };
    here && typed.parts().into_iter().all(|part| is_sound(part, fields))
}

fn predicate_fits(predicate: &Predicate, fields: &[Field]) -> bool {
    let logical_type = |column: usize| fields.get(column).map(|field| field.logical_type.physical());
    match predicate {
        Predicate::Constant(_) => true,
        Predicate::Range { column, .. } => {
            matches!(logical_type(*column), Some(PhysicalType::Integers | PhysicalType::Floats))
        }
        Predicate::Compare { column, .. } => logical_type(*column) == Some(PhysicalType::Bytes),
        Predicate::IsNull { column } => logical_type(*column).is_some(),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(|part| predicate_fits(part, fields)),
        Predicate::Not(part) => predicate_fits(part, fields),
    }
}

/// Each item once, where it comes first.
fn distinct<T: Clone + Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}
