//! Accumulators of values in another type: integers and decimals in a type that their sums cannot overflow, and floats
//! as integers in the same order.

use crate::answer::cast;
use crate::error::of_arrow;
use brc_core::{float_of_order, float_order};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use datafusion::arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type, Float64Type,
    Int64Type, UInt64Type, i256,
};
use datafusion::common::{ScalarValue, exec_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use std::sync::Arc;

/// The digits of values whose sum always fits in 38 or 76 digits: there are less than 2^63 rows.
const SUMMED_DIGITS: [u8; 2] = [DECIMAL128_MAX_PRECISION - 19, DECIMAL256_MAX_PRECISION - 19];

/// How values are represented in an accumulator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Recoding {
    /// In a decimal type that sums cannot overflow. The sums are cast to the type of the result.
    Wider { wide: DataType, result: DataType, name: String },
    /// As integers in the order of the floats: NaN is equal to itself and the greatest.
    Ordered { float: DataType },
}

impl Recoding {
    /// The recoding for sums; `None` if the values are neither integers nor decimals.
    pub(super) fn of_sums(argument: &DataType, result: &DataType, name: &str) -> Option<Self> {
        let wide = match *argument {
            DataType::Int64 | DataType::UInt64 => DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0),
            DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) => {
                DataType::Decimal128(DECIMAL128_MAX_PRECISION, scale)
            }
            DataType::Decimal128(precision, scale) if precision <= SUMMED_DIGITS[0] => {
                DataType::Decimal128(DECIMAL128_MAX_PRECISION, scale)
            }
            DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => {
                DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale)
            }
            _ => return None,
        };
        Some(Self::Wider { wide, result: result.clone(), name: name.to_owned() })
    }

    /// The recoding for sums that are to be divided: they remain in the wide type.
    pub(super) fn of_averages(argument: &DataType) -> Option<Self> {
        let recoding = Self::of_sums(argument, argument, "")?;
        let wide = recoding.data_type();
        Some(Self::Wider { result: wide.clone(), wide, name: String::new() })
    }

    /// The recoding for minima and maxima; `None` if the values are not floats.
    pub(super) fn of_floats(argument: &DataType) -> Option<Self> {
        argument.is_floating().then(|| Self::Ordered { float: argument.clone() })
    }

    /// The type of recoded values.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Wider { wide, .. } => wide.clone(),
            Self::Ordered { .. } => DataType::Int64,
        }
    }

    /// The type of partial results. DataFusion expects that of the result for minima and maxima.
    pub(super) fn state_type(&self) -> DataType {
        match self {
            Self::Wider { wide, .. } => wide.clone(),
            Self::Ordered { float } => float.clone(),
        }
    }

    fn encode(&self, values: &ArrayRef) -> Result<ArrayRef> {
        let wide = match self {
            Self::Wider { wide, .. } => wide,
            Self::Ordered { .. } => return encode_floats(values),
        };
        Ok(match (values.data_type(), wide) {
            (DataType::Int64, _) => {
                let values = values.as_primitive::<Int64Type>().unary::<_, Decimal128Type>(i128::from);
                Arc::new(values.with_data_type(wide.clone()))
            }
            (DataType::UInt64, _) => {
                let values = values.as_primitive::<UInt64Type>().unary::<_, Decimal128Type>(i128::from);
                Arc::new(values.with_data_type(wide.clone()))
            }
            (DataType::Decimal128(..), DataType::Decimal128(..)) => Arc::clone(values),
            (DataType::Decimal128(..), _) => {
                let values = values.as_primitive::<Decimal128Type>().unary::<_, Decimal256Type>(i256::from_i128);
                Arc::new(values.with_data_type(wide.clone()))
            }
            (DataType::Decimal256(..), _) => {
                // There is no wider type.
                let checked = values.as_primitive::<Decimal256Type>().validate_decimal_precision(SUMMED_DIGITS[1]);
                checked.map_err(of_arrow)?;
                Arc::clone(values)
            }
            _ => cast(values, wide).map_err(of_arrow)?,
        })
    }

    fn decode(&self, values: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Self::Wider { result, name, .. } => {
                cast(values, result).or_else(|_| exec_err!("{name} is out of range for {result}"))
            }
            Self::Ordered { float } => {
                let floats: ArrayRef =
                    Arc::new(values.as_primitive::<Int64Type>().unary::<_, Float64Type>(float_of_order));
                cast(&floats, float).map_err(of_arrow)
            }
        }
    }

    fn decode_value(&self, value: &ScalarValue) -> Result<ScalarValue> {
        // Window functions decode a value for each row.
        if let (Self::Wider { result: DataType::Int64, .. }, ScalarValue::Decimal128(Some(sum), ..)) = (self, value)
            && let Ok(sum) = i64::try_from(*sum)
        {
            return Ok(ScalarValue::Int64(Some(sum)));
        }
        ScalarValue::try_from_array(&self.decode(&value.to_array()?)?, 0)
    }

    /// Decodes a partial result, unless it is kept in the wide type.
    fn decode_state(&self, states: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
        match self {
            Self::Wider { .. } => Ok(states),
            Self::Ordered { .. } => states.iter().map(|state| self.decode(state)).collect(),
        }
    }

    fn encode_state(&self, states: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        match self {
            Self::Wider { .. } => Ok(states.to_vec()),
            Self::Ordered { .. } => self.encode_all(states),
        }
    }

    fn encode_all(&self, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        values.iter().map(|values| self.encode(values)).collect()
    }
}

fn encode_floats(values: &ArrayRef) -> Result<ArrayRef> {
    let order = |value: f64| float_order(if value.is_nan() { f64::NAN.copysign(1.0) } else { value });
    let floats = cast(values, &DataType::Float64).map_err(of_arrow)?;
    Ok(Arc::new(floats.as_primitive::<Float64Type>().unary::<_, Int64Type>(order)))
}

/// An accumulator of recoded values.
#[derive(Debug)]
pub(super) struct Recoded<A: ?Sized> {
    pub(super) inner: Box<A>,
    pub(super) recoding: Recoding,
}

impl Accumulator for Recoded<dyn Accumulator> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(&self.recoding.encode_all(values)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.recoding.decode_value(&self.inner.evaluate()?)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let states = self.inner.state()?;
        match self.recoding {
            Recoding::Wider { .. } => Ok(states),
            Recoding::Ordered { .. } => states.iter().map(|state| self.recoding.decode_value(state)).collect(),
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(&self.recoding.encode_state(states)?)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(&self.recoding.encode_all(values)?)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }
}

impl GroupsAccumulator for Recoded<dyn GroupsAccumulator> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        number_of_groups: usize,
    ) -> Result<()> {
        self.inner.update_batch(&self.recoding.encode_all(values)?, groups, filter, number_of_groups)
    }

    fn evaluate(&mut self, emitted: EmitTo) -> Result<ArrayRef> {
        self.recoding.decode(&self.inner.evaluate(emitted)?)
    }

    fn state(&mut self, emitted: EmitTo) -> Result<Vec<ArrayRef>> {
        self.recoding.decode_state(self.inner.state(emitted)?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], number_of_groups: usize) -> Result<()> {
        self.inner.merge_batch(&self.recoding.encode_state(states)?, groups, number_of_groups)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let states = self.inner.convert_to_state(&self.recoding.encode_all(values)?, filter)?;
        self.recoding.decode_state(states)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}
