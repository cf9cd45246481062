//! Linear regressions of a column `y` on a column `x`, by least squares: `regr_slope(y, x)` and what belongs to it. All
//! are the floats nearest to the exact results; null where `x` does not vary, and NaN where a value is no finite number.

use super::covar::{Found, Products};
use super::{AggregateFunction, Bound, Form, Group, avg::units, pairs};
use crate::states::StateKind;
use crate::values::ratio::nearest;
use brc_core::{Field, LogicalType, Value};
use num_bigint::{BigInt, BigUint};

macro_rules! regressions {
    ($($static:ident, $name:literal, $about:literal, $example:expr, $value:expr;)*) => {
        $(pub(super) static $static: AggregateFunction = AggregateFunction {
            name: $name,
            aliases: &[],
            about: $about,
            example: $example,
            form: Form::Numbers,
            bind: |fields| bound(fields, |group| Regression::of(group, $value)),
        };)*
    };
}

// The first argument, `y`, is the `x` of the moments.
regressions! {
    REGR_SLOPE, "regr_slope", "the slope of the regression line of y on x",
        ("regr_slope(sold, price)", "-1.5"), |it: &Regression<'_, '_>| it.slope();
    REGR_INTERCEPT, "regr_intercept", "the intercept of the regression line of y on x",
        ("regr_intercept(sold, price)", "20.75"), |it: &Regression<'_, '_>| it.intercept();
    REGR_R2, "regr_r2", "the coefficient of determination of the regression",
        ("regr_r2(sold, price)", "0.9264705882352942"), |it: &Regression<'_, '_>| it.r2();
    REGR_SXX, "regr_sxx", "the sum of the squared deviations of x",
        ("regr_sxx(sold, price)", "14.0"), |it: &Regression<'_, '_>| it.deviation(&it.products.yy, 1, 1);
    REGR_SYY, "regr_syy", "the sum of the squared deviations of y",
        ("regr_syy(sold, price)", "34.0"), |it: &Regression<'_, '_>| it.deviation(&it.products.xx, 0, 0);
    REGR_SXY, "regr_sxy", "the sum of the products of the deviations of x and y",
        ("regr_sxy(sold, price)", "-21.0"), |it: &Regression<'_, '_>| it.deviation(&it.products.xy, 0, 1);
    REGR_AVGX, "regr_avgx", "the average of x in rows where neither is null",
        ("regr_avgx(sold, price)", "10.5"), |it: &Regression<'_, '_>| it.mean(&it.products.moment.y, 1);
    REGR_AVGY, "regr_avgy", "the average of y in rows where neither is null",
        ("regr_avgy(sold, price)", "5.0"), |it: &Regression<'_, '_>| it.mean(&it.products.moment.x, 0);
}

pub(super) static REGR_COUNT: AggregateFunction = AggregateFunction {
    name: "regr_count",
    aliases: &[],
    about: "the number of rows in which neither x nor y is null",
    example: ("regr_count(sold, price)", "4"),
    form: Form::Numbers,
    bind: |fields| {
        pairs(fields)?;
        Ok(Bound::new(LogicalType::Int64, StateKind::Pairs, |group| {
            Some(Value::Integer(group.state()?.count(group.group).into()))
        }))
    },
};

fn bound(fields: &[&Field], value: for<'a> fn(&Group<'a>) -> Option<Value<'a>>) -> Result<Bound, &'static str> {
    pairs(fields)?;
    Ok(Bound::new(LogicalType::Float64, StateKind::Pairs, value))
}

struct Regression<'g, 'a> {
    group: &'g Group<'a>,
    products: Box<Products>,
}

impl<'g, 'a> Regression<'g, 'a> {
    /// What is to be computed of a group; `None` if it has no pairs.
    fn of(group: &'g Group<'a>, value: impl Fn(&Self) -> Option<f64>) -> Option<Value<'a>> {
        let value = match Products::of(group)? {
            Found::Finite(products) => value(&Self { group, products })?,
            Found::Special(_) => f64::NAN,
        };
        Some(Value::Float(value))
    }

    fn unit(&self, argument: usize) -> BigUint {
        units(self.group.scales[argument])
    }

    /// How much `x` varies; `None` if it does not.
    fn variation(&self) -> Option<BigUint> {
        self.products.yy.to_biguint().filter(|variation| variation.bits() > 0)
    }

    fn slope(&self) -> Option<f64> {
        let numerator = &self.products.xy * BigInt::from(self.unit(1));
        Some(nearest(&numerator, &(self.variation()? * self.unit(0)), 0))
    }

    fn intercept(&self) -> Option<f64> {
        let Products { moment, yy, xy, .. } = &*self.products;
        let numerator = &moment.x * yy - xy * &moment.y;
        let denominator = self.variation()? * moment.count * self.unit(0);
        Some(nearest(&numerator, &denominator, -self.products.exponent()))
    }

    fn r2(&self) -> Option<f64> {
        let (of_x, of_y) = (self.variation()?, self.products.xx.to_biguint()?);
        if of_y.bits() == 0 {
            return Some(1.0);
        }
        Some(nearest(&(&self.products.xy * &self.products.xy), &(of_x * of_y), 0))
    }

    fn deviation(&self, product: &BigInt, one: usize, other: usize) -> Option<f64> {
        let denominator = BigUint::from(self.products.moment.count) * self.unit(one) * self.unit(other);
        Some(nearest(product, &denominator, -2 * self.products.exponent()))
    }

    fn mean(&self, sum: &BigInt, argument: usize) -> Option<f64> {
        let denominator = BigUint::from(self.products.moment.count) * self.unit(argument);
        Some(nearest(sum, &denominator, -self.products.exponent()))
    }
}
