//! JSON objects, one per row: as JSON lines, as the encoding writes them, or in an array.

use super::Format;
use crate::printable;
use brc_core::{Batch, BatchWriter, Error, Part, PartEncoder, Result, Schema, Sink};

/// One object per row.
pub(super) struct Json {
    name: &'static str,
    about: &'static str,
    in_array: bool,
}

pub(super) const JSON: Json = Json {
    name: "json",
    about: "JSON lines (also jsonl): one object per line, as convert writes it; strings must be UTF-8",
    in_array: false,
};

pub(super) const JSON_ARRAY: Json =
    Json { name: "json-array", about: "one JSON array of these objects, one per line", in_array: true };

impl Format for Json {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        if self.in_array { &[] } else { &["jsonl", "ndjson"] }
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn writer(&self, schema: &Schema) -> Box<dyn BatchWriter> {
        Box::new(Writer { lines: brc_encodings::json_lines(schema), in_array: self.in_array, any: false })
    }
}

struct Writer {
    lines: Box<dyn BatchWriter>,
    in_array: bool,
    /// Whether any row was written.
    any: bool,
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(Encoder(self.lines.encoder()))
    }

    /// The start is written with the first row, so that nothing is written if the first row cannot be expressed.
    fn append(&mut self, part: &mut Part) -> Result<()> {
        self.lines.append(part)?;
        if self.in_array && part.rows > 0 {
            let mut bytes = Vec::with_capacity(part.bytes.len() + 2 * part.rows as usize + 2);
            for line in part.bytes.split_inclusive(|&byte| byte == b'\n') {
                bytes.extend_from_slice(if self.any { b",\n" } else { b"[\n" });
                bytes.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
                self.any = true;
            }
            (part.bytes, part.cuts) = (bytes, Vec::new());
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        Ok(match (self.in_array, self.any) {
            (false, _) => Vec::new(),
            (true, true) => b"\n]\n".to_vec(),
            (true, false) => b"[]\n".to_vec(),
        })
    }
}

/// An encoder whose errors suggest a different format.
struct Encoder(Box<dyn PartEncoder>);

fn explained(error: Error) -> Error {
    match error {
        Error::UnsupportedValue(row) => {
            let value = row.value.as_ref().map_or(String::new(), |(_, value)| format!("'{value}' "));
            Error::Usage(format!("json cannot hold a value: {value}{}; try --format csv", row.fault))
        }
        other => other,
    }
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.0.batch(batch).map_err(explained)
    }
}

impl PartEncoder for Encoder {
    fn begin(&mut self, part: u64) {
        self.0.begin(part);
    }

    fn skip(&mut self) {
        self.0.skip();
    }

    fn finish(&mut self) -> Result<Part> {
        self.0.finish().map_err(explained)
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        self.0.overflow().map_err(explained)
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        self.0.recycle(bytes);
    }
}

/// Formats a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// Formats bytes as a JSON string; bytes that are not UTF-8 are escaped as on a terminal, like `\\xff`.
pub(crate) fn json_text(text: &[u8]) -> String {
    std::str::from_utf8(text).map_or_else(|_| json_string(&printable::line(text)), json_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_objects() {
        let first = r#"{"a|b":"x, \"y\"","n":1.50,"d":"2024-02-29","f":"NaN","b":true}"#;
        let second = r#"{"a|b":"","n":null,"d":null,"f":1e300,"b":null}"#;
        assert_eq!(crate::render::rendered(&JSON), format!("{first}\n{second}\n"));
        assert_eq!(crate::render::rendered(&JSON_ARRAY), format!("[\n{first},\n{second}\n]\n"));
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json_text(b"K\xf6ln"), r#""K\\xf6ln""#);
        assert_eq!(json_string("a\"b\\c\n\u{1}Zürich 一"), r#""a\"b\\c\n\u0001Zürich 一""#);
    }
}
