//! Translates expressions of DataFusion to the SQL of brc, if they mean the same in both.
//!
//! Expressions that are not translated are left to DataFusion. That includes floats, whose comparisons differ, and
//! divisions, whose result types differ.

use brc_core::identifier::quote;
use brc_core::{Field, LogicalType, Schema};
use brc_query::Query;
use datafusion::arrow::datatypes::{DataType, Decimal128Type, DecimalType};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{Between, InList};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, Like, Operator};

/// Translates a condition, if brc can evaluate it.
pub(crate) fn condition(expression: &Expr, columns: &Schema) -> Option<String> {
    let text = boolean(expression, columns)?;
    let query = Query::parse(&format!("select * where {text}")).ok()?;
    query.plan(columns).ok().map(|_| text)
}

/// The column of the table.
pub(crate) fn field<'a>(columns: &'a Schema, column: &Column) -> Option<&'a Field> {
    columns.index_of(&column.name).map(|index| &columns.fields()[index])
}

fn boolean(expression: &Expr, columns: &Schema) -> Option<String> {
    let value = |expression: &Expr| comparable(expression, columns);
    Some(match expression {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            format!("({} {op} {})", boolean(left, columns)?, boolean(right, columns)?)
        }
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: op @ (Operator::Eq | Operator::NotEq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq),
            right,
        }) => format!("({} {op} {})", value(left)?, value(right)?),
        Expr::Not(inner) => format!("(not {})", boolean(inner, columns)?),
        Expr::IsNull(inner) => format!("({} is null)", value(inner)?),
        Expr::IsNotNull(inner) => format!("({} is not null)", value(inner)?),
        Expr::Between(Between { expr, negated, low, high }) => {
            format!("({}{} between {} and {})", value(expr)?, not(*negated), value(low)?, value(high)?)
        }
        Expr::InList(InList { expr, list, negated }) => {
            let list = list.iter().map(value).collect::<Option<Vec<_>>>()?;
            format!("({}{} in ({}))", value(expr)?, not(*negated), list.join(", "))
        }
        Expr::Like(Like { negated, expr, pattern, escape_char: None, case_insensitive: false }) => {
            // A backslash escapes in DataFusion.
            let pattern = value(pattern).filter(|pattern| !pattern.contains('\\'))?;
            format!("({}{} like {pattern})", value(expr)?, not(*negated))
        }
        Expr::Column(column) => {
            let field = field(columns, column)?;
            (field.logical_type == LogicalType::Bool).then(|| quote(&field.name))?
        }
        _ => return None,
    })
}

fn not(negated: bool) -> &'static str {
    if negated { " not" } else { "" }
}

/// Translates a value that both engines order and compare alike.
pub(crate) fn comparable(expression: &Expr, columns: &Schema) -> Option<String> {
    let text = value(expression, columns)?;
    let is_float = |column: &&Column| field(columns, column).is_some_and(|field| field.logical_type.is_float());
    (!expression.column_refs().iter().any(is_float)).then_some(text)
}

/// Translates a value: a column, a constant, a function, or sums, differences and products of these.
pub(crate) fn value(expression: &Expr, columns: &Schema) -> Option<String> {
    match expression {
        Expr::Column(column) => field(columns, column).map(|field| quote(&field.name)),
        Expr::Literal(literal, _) => constant(literal),
        Expr::Alias(alias) => value(&alias.expr, columns),
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: op @ (Operator::Plus | Operator::Minus | Operator::Multiply),
            right,
        }) => {
            let (left, right) = (number(left, columns)?, number(right, columns)?);
            Some(format!("({left} {op} {right})"))
        }
        Expr::ScalarFunction(call) => function(call.name(), &call.args, columns),
        Expr::Cast(Cast { expr, field }) => {
            let Expr::Column(column) = expr.as_ref() else {
                // Functions with integer results return int32 in DataFusion.
                let is_wider = *field.data_type() == DataType::Int64 && is_function_of_integers(expr);
                return is_wider.then(|| value(expr, columns))?;
            };
            let from = self::field(columns, column)?.logical_type;
            keeps_values(from, field.data_type()).then(|| quote(&column.name))
        }
        _ => None,
    }
}

/// Translates the argument of an average. A cast of integers to floats makes no difference to brc.
pub(crate) fn averaged(expression: &Expr, columns: &Schema) -> Option<String> {
    match expression {
        Expr::Cast(Cast { expr, field }) if *field.data_type() == DataType::Float64 => match expr.as_ref() {
            function if is_function_of_integers(function) => value(function, columns),
            column @ Expr::Column(_) => number(column, columns),
            _ => None,
        },
        _ => value(expression, columns),
    }
}

fn is_function_of_integers(expression: &Expr) -> bool {
    let names = ["character_length", "octet_length", "date_part"];
    matches!(expression, Expr::ScalarFunction(call) if names.contains(&call.name()))
}

/// Translates a function that both engines have.
fn function(name: &str, arguments: &[Expr], columns: &Schema) -> Option<String> {
    let of_type = |argument: &Expr, is_one: fn(LogicalType) -> bool| {
        let Expr::Column(column) = argument else { return None };
        let field = field(columns, column)?;
        is_one(field.logical_type).then(|| quote(&field.name))
    };
    let is_text = |own: LogicalType| own == LogicalType::String;
    let is_instant = |own| matches!(own, LogicalType::Date | LogicalType::Timestamp { zone: false, .. });
    let is_timestamp = |own| matches!(own, LogicalType::Timestamp { zone: false, .. });
    match (name, arguments) {
        ("character_length" | "octet_length", [text]) => {
            let name = if name == "octet_length" { name } else { "length" };
            Some(format!("{name}({})", of_type(text, is_text)?))
        }
        ("date_part", [Expr::Literal(part, _), value]) => {
            let part = part.try_as_str()??.to_ascii_lowercase();
            let is_known: fn(LogicalType) -> bool = match part.as_str() {
                "year" | "month" | "day" => is_instant,
                "hour" | "minute" => is_timestamp,
                _ => return None,
            };
            Some(format!("extract({part} from {})", of_type(value, is_known)?))
        }
        ("date_trunc", [Expr::Literal(part, _), value]) => {
            let part = part.try_as_str()??.to_ascii_lowercase();
            let is_known = ["year", "month", "day", "hour", "minute", "second"].contains(&part.as_str());
            is_known.then_some(format!("date_trunc('{part}', {})", of_type(value, is_timestamp)?))
        }
        ("regexp_replace", [text, Expr::Literal(pattern, _), Expr::Literal(replacement, _)]) => {
            replacement.try_as_str()?.filter(|replacement| is_same_replacement(replacement))?;
            let text = of_type(text, is_text)?;
            Some(format!("regexp_replace({text}, {}, {})", constant(pattern)?, constant(replacement)?))
        }
        ("substr", [text, Expr::Literal(ScalarValue::Int64(Some(start @ 1..)), _), rest @ ..]) => {
            let text = of_type(text, is_text)?;
            match rest {
                [] => Some(format!("substr({text}, {start})")),
                [Expr::Literal(ScalarValue::Int64(Some(length @ 0..)), _)] => {
                    Some(format!("substr({text}, {start}, {length})"))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether both engines interpret a replacement alike: DataFusion also takes `$` for groups, and group numbers may have
/// several digits there.
fn is_same_replacement(replacement: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    !replacement.contains('$') && replacement.split('\\').skip(1).all(|after| digits(after) == 1)
}

/// Translates a number of a type for which both engines compute alike: integers and decimals.
fn number(expression: &Expr, columns: &Schema) -> Option<String> {
    let text = value(expression, columns)?;
    let is_exact = |column: &&Column| {
        field(columns, column).is_some_and(|field| field.logical_type.is_numeric() && !field.logical_type.is_float())
    };
    expression.column_refs().iter().all(is_exact).then_some(text)
}

/// Whether a cast keeps all values of a column.
fn keeps_values(from: LogicalType, to: &DataType) -> bool {
    match from {
        LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Int64 => match to {
            DataType::Int64 => true,
            DataType::Decimal128(precision, scale) => *scale >= 0 && *precision as i8 - scale >= 19,
            _ => false,
        },
        LogicalType::Decimal { precision, scale } => match to {
            DataType::Decimal128(wider, finer) => {
                *finer >= scale as i8
                    && i16::from(*wider) - i16::from(*finer) >= i16::from(precision) - i16::from(scale)
            }
            _ => false,
        },
        LogicalType::String => matches!(to, DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8),
        _ => false,
    }
}

fn constant(literal: &ScalarValue) -> Option<String> {
    Some(match literal {
        ScalarValue::Boolean(Some(value)) => value.to_string(),
        ScalarValue::Int8(Some(value)) => value.to_string(),
        ScalarValue::Int16(Some(value)) => value.to_string(),
        ScalarValue::Int32(Some(value)) => value.to_string(),
        ScalarValue::Int64(Some(value)) => value.to_string(),
        ScalarValue::UInt64(Some(value)) => value.to_string(),
        ScalarValue::Decimal128(Some(value), precision, scale @ 0..) => {
            Decimal128Type::format_decimal(*value, *precision, *scale)
        }
        ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        // A constant for a string column that is read as binary.
        ScalarValue::Binary(Some(bytes)) => constant(&ScalarValue::from(std::str::from_utf8(bytes).ok()?))?,
        ScalarValue::Date32(Some(_)) => format!("date '{literal}'"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::functions::expr_fn::regexp_replace;
    use datafusion::prelude::{col, lit};

    fn columns() -> Schema {
        Schema::parse("s:string,i:int32,d:decimal(9,2),day:date,f:float64,\"odd\"\"name\":int64").unwrap()
    }

    fn replaced(pattern: &str, replacement: &str) -> Expr {
        regexp_replace(col("s"), lit(pattern), lit(replacement), None)
    }

    #[test]
    fn conditions_that_mean_the_same_are_translated() {
        let decimal = |value| lit(ScalarValue::Decimal128(Some(value), 9, 2));
        let day = lit(ScalarValue::Date32(Some(20_000)));
        for (expression, text) in [
            (col("s").eq(lit("it's")), "(\"s\" = 'it''s')"),
            (col("i").gt(lit(3)).and(col("d").lt_eq(decimal(-105))), "((\"i\" > 3) AND (\"d\" <= -1.05))"),
            (col("day").between(day.clone(), day), "(\"day\" between date '2024-10-04' and date '2024-10-04')"),
            (col("s").in_list(vec![lit("a"), lit("b")], true), "(\"s\" not in ('a', 'b'))"),
            (col("s").like(lit("a%")), "(\"s\" like 'a%')"),
            (!col("i").is_null(), "(not (\"i\" is null))"),
            (replaced(r"(\w+) .*", r"\1!").eq(lit("a")), r#"(regexp_replace("s", '(\w+) .*', '\1!') = 'a')"#),
        ] {
            assert_eq!(condition(&expression, &columns()).as_deref(), Some(text));
        }
    }

    #[test]
    fn conditions_that_may_differ_are_not_translated() {
        for expression in [
            col("f").gt(lit(1.5)),
            col("f").gt(lit(1)),
            (col("i") / lit(2)).gt(lit(1)),
            col("s").like(lit("a\\%")),
            col("s").ilike(lit("a%")),
            col("absent").eq(lit(1)),
            replaced("a", "$1").eq(lit("a")),
            replaced("(a)", r"\10").eq(lit("a")),
            replaced("a", r"\\").eq(lit("a")),
            replaced("a", r"\1").eq(lit("a")),
            replaced("(a", "b").eq(lit("a")),
        ] {
            assert_eq!(condition(&expression, &columns()), None, "{expression}");
        }
    }
}
