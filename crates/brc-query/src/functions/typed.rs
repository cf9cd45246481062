//! Expressions bound to columns: plain data, which may travel with a plan.

use crate::functions::Function;
use brc_core::{Field, LogicalType, Predicate, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An expression of which the type is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Typed {
    pub(crate) node: Node,
    pub(crate) logical_type: LogicalType,
    pub(crate) nullable: bool,
}

/// The kinds of expressions. Columns are given by position.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Node {
    Column(usize),
    Literal(Option<Scalar>),
    /// Comparisons of columns with constants.
    Condition(Predicate),
    /// Comparisons of an expression, as column 0, with constants.
    Test {
        of: Box<Typed>,
        test: Predicate,
    },
    And(Vec<Typed>),
    Or(Vec<Typed>),
    Not(Box<Typed>),
    IsNull(Box<Typed>),
    /// The value after the first condition that is true.
    Case {
        branches: Vec<(Typed, Typed)>,
        otherwise: Option<Box<Typed>>,
    },
    /// The first value that is not null.
    Coalesce(Vec<Typed>),
    /// A value in another type; where it has none, null if that is what is wanted.
    Cast {
        inner: Box<Typed>,
        attempt: bool,
    },
    Call {
        function: FunctionName,
        arguments: Vec<Typed>,
    },
}

/// A value of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Scalar {
    Integer(i128),
    /// The bits of a float.
    Float(u64),
    Bytes(Vec<u8>),
}

impl Scalar {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Integer(value) => Value::Integer(*value),
            Self::Float(bits) => Value::Float(f64::from_bits(*bits)),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

impl From<Value<'_>> for Scalar {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Integer(value) => Self::Integer(value),
            Value::Float(value) => Self::Float(value.to_bits()),
            Value::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

/// A function, which is its name where it is plain data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FunctionName(pub(crate) &'static Function);

impl Serialize for FunctionName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.name.serialize(serializer)
    }
}

impl<'a> Deserialize<'a> for FunctionName {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let function = Function::by_name(&name);
        function.map(Self).ok_or_else(|| serde::de::Error::custom(format!("there is no function '{name}'")))
    }
}

impl Typed {
    pub(crate) fn column(position: usize, logical_type: LogicalType, nullable: bool) -> Self {
        Self { node: Node::Column(position), logical_type, nullable }
    }

    pub(crate) fn literal(logical_type: LogicalType, value: Option<Scalar>) -> Self {
        Self { nullable: value.is_none(), node: Node::Literal(value), logical_type }
    }

    pub(crate) fn truth(node: Node, nullable: bool) -> Self {
        Self { node, logical_type: LogicalType::Bool, nullable }
    }

    /// What a column of its values is like.
    pub(crate) fn field(&self) -> Field {
        Field { name: String::new(), logical_type: self.logical_type, nullable: self.nullable }
    }

    /// Whether it is a column as it stands.
    pub(crate) fn is_column(&self) -> bool {
        matches!(self.node, Node::Column(_))
    }

    /// The value of a constant.
    pub(crate) fn constant(&self) -> Option<Option<&Scalar>> {
        match &self.node {
            Node::Literal(value) => Some(value.as_ref()),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.node == Node::Literal(None)
    }

    /// What it is made of.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match &self.node {
            Node::Column(_) | Node::Literal(_) | Node::Condition(_) => Vec::new(),
            Node::And(parts) | Node::Or(parts) | Node::Coalesce(parts) => parts.iter().collect(),
            Node::Not(part) | Node::IsNull(part) | Node::Cast { inner: part, .. } | Node::Test { of: part, .. } => {
                vec![part]
            }
            Node::Case { branches, otherwise } => {
                let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                branches.chain(otherwise.as_deref()).collect()
            }
            Node::Call { arguments, .. } => arguments.iter().collect(),
        }
    }

    /// How many parts it has, all that these are made of as well.
    pub(crate) fn size(&self) -> usize {
        1 + self.parts().into_iter().map(Self::size).sum::<usize>()
    }

    /// Appends the columns that it looks at.
    pub(crate) fn columns(&self, columns: &mut Vec<usize>) {
        match &self.node {
            Node::Column(column) => columns.push(*column),
            Node::Condition(predicate) => predicate.columns(columns),
            _ => self.parts().into_iter().for_each(|part| part.columns(columns)),
        }
    }
}

/// The columns that some expressions look at, in order.
pub(crate) fn columns_of<'a>(expressions: impl IntoIterator<Item = &'a Typed>) -> Vec<usize> {
    let mut columns = Vec::new();
    expressions.into_iter().for_each(|expression| expression.columns(&mut columns));
    columns.sort_unstable();
    columns.dedup();
    columns
}
