//! `results.csv`: one line for each cell, with and without statistics, for spreadsheets and scripts (RFC 4180, but with
//! LF line ends). Times are in milliseconds.

use super::results::Outcome;
use super::statistics::Summary;
use super::view::{Line, View};

const HEADER: &str = "table,question,rows,encoding,compression,statistics,outcome,reason,bytes,ratio,convert_ms,query_ms,\
                      query_mean_ms,query_confidence_ms,query_min_ms,query_max_ms,query_runs,query_outliers,cold_query_ms,\
                      raw_ms,cold_raw_ms,cpu_ms,read_ms,decompress_ms,decode_ms,aggregate_ms,rest_ms,rows_per_second,\
                      cycles_per_text_byte,peak_memory_bytes,convert_peak_memory_bytes";

/// All tables in one file.
pub(crate) fn render(views: &[View<'_>]) -> String {
    let mut text = format!("{HEADER}\n");
    for view in views {
        text.push_str(&measured(view, &view.input, "input"));
        for cell in &view.table.cells {
            let reason = match &cell.outcome {
                Outcome::Impossible { reason } => ("impossible", reason.as_str()),
                Outcome::Failed { reason } => ("failed", reason.as_str()),
                Outcome::Pending => ("pending", ""),
                Outcome::Measured(_) => {
                    let lines =
                        [false, true].map(|statistics| view.line(&cell.encoding, &cell.compression, statistics));
                    for line in lines.into_iter().flatten() {
                        text.push_str(&measured(view, line, "measured"));
                    }
                    continue;
                }
            };
            let (name, question, rows) =
                (view.table_name(), view.table.question.to_string(), view.facts.rows.to_string());
            let fields = [name, &question, &rows, &cell.encoding, &cell.compression, ""];
            let fields = fields.into_iter().chain([reason.0, reason.1]).map(str::to_owned);
            text.push_str(&record(fields.chain(std::iter::repeat_n(String::new(), 23))));
        }
    }
    text
}

fn measured(view: &View<'_>, line: &Line<'_>, outcome: &str) -> String {
    let ms = |ns: f64| format!("{:.4}", ns / 1e6);
    let median = |summary: Option<Summary>| summary.map_or(String::new(), |summary| ms(summary.median));
    let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let mut fields = vec![
        view.table_name().to_owned(),
        view.table.question.to_string(),
        view.facts.rows.to_string(),
        line.encoding.to_owned(),
        line.compression.to_owned(),
        if line.statistics { "allowed" } else { "off" }.to_owned(),
        outcome.to_owned(),
        String::new(),
        line.bytes.to_string(),
        view.ratio(line).map_or(String::new(), |ratio| format!("{ratio:.4}")),
        median(line.convert),
        ms(line.query.median),
        ms(line.query.mean),
        line.query.confidence.map_or(String::new(), ms),
        ms(line.query.min),
        ms(line.query.max),
        line.query.runs.to_string(),
        line.query.outliers.to_string(),
        median(line.cold.map(|cold| cold.query)),
        ms(line.raw.median),
        median(line.cold.map(|cold| cold.raw)),
        line.cpu_ns.map_or(String::new(), ms),
    ];
    fields.extend(line.parts.iter().map(|part| ms(part.ns)));
    fields.push(format!("{:.0}", view.million_rows(line) * 1e6));
    fields.push(view.cycles(line).map_or(String::new(), |cycles| format!("{cycles:.4}")));
    fields.extend([number(line.peak_memory), number(line.convert_memory)]);
    record(fields.into_iter())
}

fn record(fields: impl Iterator<Item = String>) -> String {
    let quoted = fields.map(|field| {
        let plain = !field.contains([',', '"', '\n', '\r']);
        if plain { field } else { format!("\"{}\"", field.replace('"', "\"\"")) }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_as_wide_as_the_header() {
        let results = crate::sample::results();
        let views: Vec<_> = results.tables.iter().filter_map(|table| View::new(&results, table)).collect();
        let text = render(&views);
        let columns = HEADER.split(',').count();
        for line in text.lines() {
            // Fields with a comma are quoted.
            let outside: String = line.split('"').step_by(2).collect();
            assert_eq!(outside.split(',').count(), columns, "{line}");
        }
        insta::assert_snapshot!("results.csv", text);
    }
}
