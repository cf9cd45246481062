//! Formats a summary as JSON: one object.

use super::{ColumnSummary, TableSummary};
use crate::render::{json_string, json_text};
use brc_core::{LogicalType, Value};
use brc_encodings::{hex_digits, not_finite};

/// The summary as JSON. Missing facts are null.
pub(crate) fn json(summary: &TableSummary) -> String {
    let columns: Vec<_> = summary.columns.iter().map(column).collect();
    format!("{{\n  \"rows\": {},\n  \"columns\": [\n    {}\n  ]\n}}\n", summary.rows, columns.join(",\n    "))
}

fn column(column: &ColumnSummary) -> String {
    let logical_type = column.logical_type;
    let values = &column.values;
    let shown = |text: Option<&Vec<u8>>| text.map_or("null".to_owned(), |text| value(text, logical_type));
    let quartile = |number: usize| shown(values.quartiles.get(number));
    let moment = |number: Option<f64>| {
        let text = |number| Value::Float(number).to_text(LogicalType::Float64);
        number.map_or("null".to_owned(), |number| value(text(number).as_bytes(), LogicalType::Float64))
    };
    let frequent = values
        .frequent
        .iter()
        .map(|(text, rows)| format!("{{\"value\": {}, \"count\": {rows}}}", value(text, logical_type)));
    let members = [
        ("name", json_string(&column.name)),
        ("type", json_string(&logical_type.to_string())),
        ("nulls", column.nulls.to_string()),
        ("distinct", values.distinct.to_string()),
        ("min", shown(values.min.as_ref())),
        ("q25", quartile(0)),
        ("q50", quartile(1)),
        ("q75", quartile(2)),
        ("max", shown(values.max.as_ref())),
        ("mean", moment(column.mean)),
        ("stddev", moment(column.deviation)),
        ("most_frequent", format!("[{}]", frequent.collect::<Vec<_>>().join(", "))),
    ];
    let members = members.map(|(name, value)| format!("\"{name}\": {value}"));
    format!("{{{}}}", members.join(", "))
}

/// A value in its text form, as the encoding writes it.
fn value(text: &[u8], logical_type: LogicalType) -> String {
    match logical_type {
        LogicalType::Binary => return json_string(&hex_digits(text)),
        _ if !logical_type.is_numeric() && logical_type != LogicalType::Bool => return json_text(text),
        _ => {}
    }
    let text = String::from_utf8_lossy(text);
    match text.parse::<f64>() {
        Ok(float) if logical_type.is_float() && !float.is_finite() => not_finite(float).to_owned(),
        _ => text.into_owned(),
    }
}
