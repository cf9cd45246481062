//! Prints what a file is made of: for people, or as JSON for programs.

use crate::render::json_string;
use crate::{printable, quantity};
use brc_core::decimal;
use brc_encodings::{Description, Fact, Facts};
use comfy_table::{CellAlignment, ContentArrangement};

/// For people: the file's facts, then a table of its columns.
pub(crate) fn text(description: &Description) -> String {
    let mut text = String::new();
    for (name, fact) in &description.file {
        text.push_str(&format!("{name:<13}{}\n", readable(fact)));
    }
    text.push('\n');
    let headers = headers(&description.columns);
    let mut table = comfy_table::Table::new();
    table.load_style(crate::render::STYLE).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(&headers);
    for column in &description.columns {
        let cell =
            |header| column.iter().find(|(name, _)| name == header).map_or(String::new(), |(_, fact)| readable(fact));
        table.add_row(headers.iter().map(cell));
    }
    for (header, column) in headers.iter().zip(table.column_iter_mut()) {
        let is_text = |facts: &Facts| facts.iter().any(|(name, fact)| name == header && matches!(fact, Fact::Text(_)));
        if !description.columns.iter().any(is_text) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// All names of facts in the order in which they first appear.
fn headers(rows: &[Facts]) -> Vec<&'static str> {
    let mut headers = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !headers.contains(name) {
            headers.push(*name);
        }
    }
    headers
}

fn readable(fact: &Fact) -> String {
    match fact {
        Fact::Text(text) => printable::line(text).into_owned(),
        Fact::Count(count) => quantity::count(*count),
        Fact::Bytes(bytes) => quantity::bytes(*bytes),
        Fact::Number { value, scale } => decimal::to_string(*value, *scale),
    }
}

/// For programs: one object, sizes in bytes, names with `_` for spaces. Bytes that are not UTF-8 are replaced.
pub(crate) fn json(description: &Description) -> String {
    let mut members: Vec<String> = description.file.iter().map(member).collect();
    members.push(format!("\"columns\": {}", array(&description.columns)));
    if !description.row_groups.is_empty() {
        // The file's facts count them; here they are.
        members.retain(|member| !member.starts_with("\"row_groups\":"));
        members.push(format!("\"row_groups\": {}", array(&description.row_groups)));
    }
    format!("{{\n  {}\n}}\n", members.join(",\n  "))
}

fn array(rows: &[Facts]) -> String {
    let object = |facts: &Facts| format!("{{{}}}", facts.iter().map(member).collect::<Vec<_>>().join(", "));
    format!("[\n    {}\n  ]", rows.iter().map(object).collect::<Vec<_>>().join(",\n    "))
}

fn member((name, fact): &(&'static str, Fact)) -> String {
    let value = match fact {
        Fact::Text(text) => json_string(&String::from_utf8_lossy(text)),
        Fact::Count(count) | Fact::Bytes(count) => count.to_string(),
        Fact::Number { value, scale } => decimal::to_string(*value, *scale),
    };
    format!("{}: {value}", json_string(&name.replace(' ', "_")))
}
