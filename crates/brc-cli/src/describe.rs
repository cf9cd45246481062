//! Formats the description of a file, as text or JSON.

use crate::render::{Cells, Header, Look, json_string, json_text, lay_out};
use crate::{printable, quantity};
use brc_core::decimal;
use brc_encodings::{Description, Fact, Facts, hex_digits};

/// As text: the facts of the file, then a table of its columns.
pub(crate) fn text(description: &Description) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, fact) in &description.file {
        text.extend_from_slice(format!("{name:<13}{}\n", readable(fact)).as_bytes());
    }
    text.push(b'\n');
    let names = names(&description.columns);
    let mut cells = Cells::default();
    for column in &description.columns {
        let fact = |wanted: &&str| column.iter().find(|(name, _)| name == wanted);
        names.iter().for_each(|name| cells.push(&fact(name).map_or(String::new(), |(_, fact)| readable(fact))));
    }
    let is_text = |wanted: &str| {
        let mut facts = description.columns.iter().flatten();
        facts.any(|(name, fact)| *name == wanted && matches!(fact, Fact::Text(_) | Fact::Binary(_)))
    };
    let header = |name: &&str| Header { name: (*name).to_owned(), is_right: !is_text(name) };
    lay_out(&names.iter().map(header).collect::<Vec<_>>(), &cells, Look::default(), &mut text);
    text
}

/// All names of facts, in order of first appearance.
fn names(rows: &[Facts]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

fn readable(fact: &Fact) -> String {
    match fact {
        Fact::Text(text) | Fact::Binary(text) => printable::line(text).into_owned(),
        Fact::Count(count) => quantity::count(*count),
        Fact::Bytes(bytes) => quantity::bytes(*bytes),
        Fact::Number { value, scale } => decimal::to_string(*value, *scale),
    }
}

/// As a JSON object, with sizes in bytes and `_` for spaces in names.
pub(crate) fn json(description: &Description) -> String {
    let mut members: Vec<String> = description.file.iter().map(member).collect();
    members.push(format!("\"columns\": {}", array(&description.columns)));
    if !description.row_groups.is_empty() {
        // The array replaces the number of row groups among the file's facts.
        members.retain(|member| !member.starts_with("\"row_groups\":"));
        members.push(format!("\"row_groups\": {}", array(&description.row_groups)));
    }
    format!("{{\n  {}\n}}\n", members.join(",\n  "))
}

/// As a JSON array of several files.
pub(crate) fn json_array(descriptions: &[Description]) -> String {
    let objects: Vec<String> = descriptions.iter().map(|description| json(description).trim_end().to_owned()).collect();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

fn array(rows: &[Facts]) -> String {
    let object = |facts: &Facts| format!("{{{}}}", facts.iter().map(member).collect::<Vec<_>>().join(", "));
    format!("[\n    {}\n  ]", rows.iter().map(object).collect::<Vec<_>>().join(",\n    "))
}

fn member((name, fact): &(&'static str, Fact)) -> String {
    let value = match fact {
        Fact::Text(text) => json_text(text),
        Fact::Binary(bytes) => json_string(&hex_digits(bytes)),
        Fact::Count(count) | Fact::Bytes(count) => count.to_string(),
        Fact::Number { value, scale } => decimal::to_string(*value, *scale),
    };
    format!("{}: {value}", json_string(&name.replace(' ', "_")))
}
