//! Our names of types where SQL has others.

use brc_core::LogicalType;
use sqlparser::ast::DataType;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// The type syntax, for messages.
pub(super) const FORMS: &str = "bool, int8, int16, int32, int64 (or int), uint64, decimal(PRECISION[, SCALE]), float32, float64, \
     date, time, timestamp[(s|ms|us|ns)][ with zone], string, binary, uuid, and names of SQL such as bigint, double, varchar";

/// The number of digits of a second in SQL, and the unit in our names of types.
const UNITS: [(&str, &str); 4] = [("0", "s"), ("3", "ms"), ("6", "us"), ("9", "ns")];

/// Writes our names of types, after `as` or `::`, as SQL has them: `timestamp(ms) with zone` as `timestamp(3) with time
/// zone`.
pub(super) fn in_sql(tokens: &mut Vec<TokenWithSpan>) {
    let is_blank = |at: &usize| matches!(tokens[*at].token, Token::Whitespace(_));
    let places: Vec<usize> = (0..tokens.len()).filter(|at| !is_blank(at)).collect();
    let words: Vec<String> = places.iter().map(|&at| tokens[at].token.to_string().to_lowercase()).collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    // From the back, so that what is inserted moves no token that is still to be looked at.
    for at in (0..words.len()).rev() {
        if !matches!((word(at), word(at + 1)), ("as" | "::", "time" | "timestamp")) {
            continue;
        }
        let mut end = at + 2;
        if (word(at + 2), word(at + 4)) == ("(", ")") {
            if let Some((digits, _)) = UNITS.iter().find(|(_, symbol)| *symbol == word(at + 3)) {
                tokens[places[at + 3]].token = Token::Number((*digits).to_owned(), false);
            }
            end = at + 5;
        }
        if (word(end), word(end + 1)) == ("with", "zone") {
            let zone = places[end + 1];
            let time = [Token::make_keyword("time"), Token::Whitespace(Whitespace::Space)];
            let span = tokens[zone].span;
            tokens.splice(zone..zone, time.map(|token| TokenWithSpan { token, span }));
        }
    }
}

/// The type that is meant.
pub(super) fn logical_type(data_type: &DataType) -> Option<LogicalType> {
    LogicalType::from_sql(&data_type.to_string()).ok()
}

#[cfg(test)]
mod tests {
    use crate::sql::Kind;
    use crate::sql::expression::Expression;

    #[test]
    fn types_have_the_names_that_schemas_show() {
        for name in [
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint64",
            "decimal(18,1)",
            "float32",
            "float64",
            "date",
            "time",
            "time(s)",
            "time(ms)",
            "time(ns)",
            "timestamp",
            "timestamp(s)",
            "timestamp(ns)",
            "timestamp with zone",
            "timestamp(ms) with zone",
            "string",
            "binary",
            "uuid",
        ] {
            for text in [format!("cast(x as {name})"), format!("try_cast(s as {name}) is null"), format!("x::{name}")] {
                let parsed = Expression::parse(&text).unwrap();
                let mut found = Vec::new();
                parsed.syntax().walk(&mut |part| {
                    if let Kind::Cast { logical_type, .. } = &part.kind {
                        found.push(logical_type.to_string());
                    }
                });
                assert_eq!(found, [name], "{text}");
            }
        }
        for (name, ours) in [
            ("decimal(10)", "decimal(10,0)"),
            ("numeric(10)", "decimal(10,0)"),
            ("dec(10)", "decimal(10,0)"),
            ("numeric(10, 2)", "decimal(10,2)"),
            ("decimal", "decimal(18,3)"),
            ("varchar(10)", "string"),
            ("char(1)", "string"),
            ("timestamp_ns", "timestamp(ns)"),
        ] {
            let Kind::Cast { logical_type, .. } = Expression::parse(&format!("x::{name}")).unwrap().syntax().kind
            else {
                panic!("{name}");
            };
            assert_eq!(logical_type.to_string(), ours, "{name}");
        }
        for text in ["x as time (s) with zone", "cast(x as timestamp(h))", "cast(x as date(s))"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
