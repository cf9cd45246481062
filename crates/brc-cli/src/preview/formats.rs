//! Formats that programs read, and Markdown.

use super::{FirstRows, Format};
use crate::printable;
use crate::render::{json_string, quote_csv};
use brc_core::{Error, LogicalType, PhysicalType, Result, RowFault};

pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "comma-separated values with a header; nulls are empty"
    }

    fn render(&self, rows: &FirstRows, out: &mut Vec<u8>) -> Result<()> {
        line(rows.schema.fields().iter().map(|field| Some(field.name.as_bytes())), out);
        for row in &rows.rows {
            line(row.iter().map(Option::as_deref), out);
        }
        Ok(())
    }
}

fn line<'a>(values: impl Iterator<Item = Option<&'a [u8]>>, out: &mut Vec<u8>) {
    for (column, value) in values.enumerate() {
        if column > 0 {
            out.push(b',');
        }
        let start = out.len();
        match value {
            // An empty string is none that is missing.
            Some([]) => out.extend_from_slice(b"\"\""),
            Some(value) => {
                out.extend_from_slice(value);
                quote_csv(start, out);
            }
            None => {}
        }
    }
    out.push(b'\n');
}

/// Objects, one a row.
pub(super) struct Json {
    name: &'static str,
    about: &'static str,
    /// What stands before all, between rows and behind all.
    around: [&'static str; 3],
}

pub(super) const JSON: Json = Json {
    name: "json",
    about: "an array of objects, one a row; strings must be UTF-8",
    around: ["[\n  ", ",\n  ", "\n]\n"],
};

pub(super) const JSON_LINES: Json =
    Json { name: "jsonl", about: "an object a line; strings must be UTF-8", around: ["", "\n", "\n"] };

impl Format for Json {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn render(&self, rows: &FirstRows, out: &mut Vec<u8>) -> Result<()> {
        let names: Vec<_> = rows.schema.fields().iter().map(|field| json_string(&field.name)).collect();
        let types: Vec<_> = rows.types().collect();
        let [before, between, behind] = self.around;
        if rows.rows.is_empty() {
            out.extend_from_slice(if before.is_empty() { b"" } else { b"[]\n" });
            return Ok(());
        }
        for (index, row) in rows.rows.iter().enumerate() {
            out.extend_from_slice(if index == 0 { before } else { between }.as_bytes());
            let members = row.iter().zip(&types).zip(&names);
            let members = members.map(|((value, of_type), name)| Ok(format!("{name}: {}", json(value, *of_type)?)));
            let members: Vec<_> = members.collect::<Result<_>>()?;
            out.extend_from_slice(format!("{{{}}}", members.join(", ")).as_bytes());
        }
        out.extend_from_slice(behind.as_bytes());
        Ok(())
    }
}

fn json(value: &Option<Vec<u8>>, logical_type: LogicalType) -> Result<String> {
    let Some(value) = value else { return Ok("null".to_owned()) };
    let text = std::str::from_utf8(value).map_err(|_| {
        let text = RowFault::quote(value);
        Error::Usage(format!("'{text}' is not UTF-8, which JSON needs; try --format csv"))
    })?;
    let is_plain = match logical_type {
        LogicalType::Bool => true,
        // JSON has no NaN and no infinities.
        LogicalType::Float64 => text.bytes().all(|byte| byte.is_ascii_digit() || b"-+.e".contains(&byte)),
        _ => logical_type.physical() == PhysicalType::Integers && logical_type.is_numeric(),
    };
    Ok(if is_plain { text.to_owned() } else { json_string(text) })
}

pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn about(&self) -> &'static str {
        "a table in Markdown"
    }

    fn render(&self, rows: &FirstRows, out: &mut Vec<u8>) -> Result<()> {
        let cell = |bytes: &[u8]| printable::line(bytes).replace('\\', "\\\\").replace('|', "\\|");
        let mut line = |cells: Vec<String>| out.extend_from_slice(format!("| {} |\n", cells.join(" | ")).as_bytes());
        line(rows.schema.fields().iter().map(|field| cell(field.name.as_bytes())).collect());
        let to_the_right = |of_type: LogicalType| of_type.physical() != PhysicalType::Bytes;
        line(rows.types().map(|of_type| if to_the_right(of_type) { "---:" } else { "---" }.to_owned()).collect());
        for row in &rows.rows {
            line(row.iter().map(|value| value.as_deref().map_or("NULL".to_owned(), cell)).collect());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Schema;
    use std::sync::Arc;

    fn rendered(format: &dyn Format) -> String {
        let schema = Arc::new(Schema::parse("a|b:string,n:decimal(4,2),d:date,f:float64,b:bool").unwrap());
        let values = |texts: [Option<&str>; 5]| texts.map(|text| text.map(|text| text.as_bytes().to_vec())).to_vec();
        let first = values([Some("x, \"y\""), Some("1.50"), Some("2024-02-29"), Some("NaN"), Some("true")]);
        let second = values([Some(""), None, None, Some("1e300"), None]);
        let mut out = Vec::new();
        format.render(&FirstRows { schema, rows: vec![first, second] }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_of_every_type_are_written() {
        assert_eq!(rendered(&Csv), "a|b,n,d,f,b\n\"x, \"\"y\"\"\",1.50,2024-02-29,NaN,true\n\"\",,,1e300,\n");
        let first = r#"{"a|b": "x, \"y\"", "n": 1.50, "d": "2024-02-29", "f": "NaN", "b": true}"#;
        let second = r#"{"a|b": "", "n": null, "d": null, "f": 1e300, "b": null}"#;
        assert_eq!(rendered(&JSON), format!("[\n  {first},\n  {second}\n]\n"));
        assert_eq!(rendered(&JSON_LINES), format!("{first}\n{second}\n"));
        let table = "| a\\|b | n | d | f | b |\n| --- | ---: | ---: | ---: | ---: |\n";
        let rows = "| x, \"y\" | 1.50 | 2024-02-29 | NaN | true |\n|  | NULL | NULL | 1e300 | NULL |\n";
        assert_eq!(rendered(&Markdown), [table, rows].concat());
    }
}
