//! One aggregate of a query: a function, its columns and its constant.

use super::{AggregateFunction, AggregateName, Bound, Form};
use crate::states::StateKind;
use brc_core::Field;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An aggregate to compute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct AggregateCall {
    /// The function.
    #[serde(serialize_with = "serialize_function", deserialize_with = "deserialize_function")]
    pub(crate) function: &'static AggregateFunction,
    /// The columns of its arguments; none for the number of rows.
    pub(crate) columns: Vec<usize>,
    /// The constant that the function takes besides.
    pub(crate) parameter: Option<String>,
}

fn serialize_function<S: Serializer>(function: &&'static AggregateFunction, serializer: S) -> Result<S::Ok, S::Error> {
    AggregateName::from(*function).serialize(serializer)
}

fn deserialize_function<'a, D: Deserializer<'a>>(deserializer: D) -> Result<&'static AggregateFunction, D::Error> {
    AggregateName::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
}

impl AggregateCall {
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

    /// Its name in messages.
    pub(crate) fn name(&self, fields: &[Field]) -> String {
        let columns = self.columns.iter().filter_map(|&column| fields.get(column)).map(|field| field.name.as_str());
        let shown: Vec<&str> = columns.take(self.function.form.columns()).chain(self.parameter.as_deref()).collect();
        let distinct = if self.function.form == Form::Distinct { "distinct " } else { "" };
        format!("{}({distinct}{})", self.function.name, shown.join(", "))
    }

    pub(crate) fn scales(&self, fields: &[Field]) -> [u8; 2] {
        [0, 1].map(|argument| {
            let field = self.columns.get(argument).and_then(|&column| fields.get(column));
            field.map_or(0, |field| field.logical_type.scale())
        })
    }
}
