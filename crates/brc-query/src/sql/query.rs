//! A query as a user writes it, before it is bound to a table.

use crate::sql::expression::{Expression, OrderBy, SelectItem};
use crate::sql::{Kind, Literal, Parser, SyntaxError};
use brc_core::Result;
use serde::{Deserialize, Serialize};

/// A query. [`Query::default`] computes what fits the table best, with statistics allowed.
#[derive(Debug, Clone)]
pub struct Query {
    /// The output columns. `None` is what is grouped by, and then the aggregates.
    pub select: Option<Vec<SelectItem>>,
    /// Whether equal rows of the answer are shown once.
    pub distinct: bool,
    /// What to group by. `None` is the only string column; without any, all rows are one group. An empty list also
    /// makes all rows one group; but where nothing is aggregated, each row is one of the answer.
    pub by: Option<Vec<Expression>>,
    /// `group by all`: by every item of `select` that has no aggregate. Then `by` is an empty list.
    pub group_by_all: bool,
    /// What is computed for each group, where `select` does not say it. `None` is min, mean and max of each column of
    /// numbers that is no key, or the number of rows if there is no such column.
    pub aggregates: Option<Vec<Expression>>,
    /// Which rows count.
    pub filter: Option<Expression>,
    /// Which groups are part of the answer.
    pub having: Option<Expression>,
    /// By what the answer is sorted, as far as it differs; then by keys, rising.
    pub order_by: Vec<OrderBy>,
    /// How many of the sorted rows are left out first.
    pub offset: u64,
    /// How many of the rows after those are wanted.
    pub limit: Option<u64>,
    /// Which rows those are, where nothing is grouped or sorted and there is a limit.
    pub pick: Pick,
    /// Whether statistics in the file may answer instead of its data.
    pub statistics: bool,
    /// Whether to measure how long aggregation takes; it costs a little itself.
    pub timings: bool,
}

/// Which rows of a table a limit leaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pick {
    /// The first rows.
    #[default]
    First,
    /// The last rows.
    Last,
    /// A uniform sample without replacement: the same for the same seed, whatever the number of threads.
    Random {
        /// What the sample depends on besides the table.
        seed: u64,
    },
}

impl Default for Query {
    fn default() -> Self {
        Self {
            select: None,
            distinct: false,
            by: None,
            group_by_all: false,
            aggregates: None,
            filter: None,
            having: None,
            order_by: Vec::new(),
            offset: 0,
            limit: None,
            pick: Pick::First,
            statistics: true,
            timings: false,
        }
    }
}

impl Query {
    /// The columns that the filter compares with strings that are not ASCII, each with the string: such a comparison
    /// depends on the charset of the column.
    #[must_use]
    pub fn comparisons_beyond_ascii(&self) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        let Some(filter) = &self.filter else { return found };
        filter.syntax().walk(&mut |condition| {
            if !matches!(condition.kind, Kind::Compare(..) | Kind::Between(_) | Kind::In { .. } | Kind::Call(_)) {
                return;
            }
            let (mut columns, mut texts) = (Vec::new(), Vec::new());
            condition.walk(&mut |part| match &part.kind {
                Kind::Column(name) => columns.push(name.as_str()),
                Kind::Literal(Literal::Text(text)) if !text.is_ascii() => texts.extend(str::from_utf8(text)),
                _ => {}
            });
            let pairs = columns.iter().flat_map(|column| texts.iter().map(|text| (*column, *text)));
            found.extend(pairs);
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether all columns of the table are selected, perhaps with exceptions.
    #[must_use]
    pub fn selects_all(&self) -> bool {
        self.select.iter().flatten().any(|item| matches!(item, SelectItem::All { .. }))
    }

    /// All columns of all rows.
    #[must_use]
    pub fn everything() -> Self {
        Self { select: Some(vec![SelectItem::ALL]), by: Some(Vec::new()), ..Self::default() }
    }

    /// Parses a `select` of one table, of which `from` may be left out, and which may have any name there.
    ///
    /// # Errors
    /// What is wrong with it, or not supported, and where.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Parser::new(text)?.select()
    }
}
