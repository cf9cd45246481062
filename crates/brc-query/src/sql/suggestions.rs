//! Suggestions for functions and operators that do not exist: what to write instead of the words of other databases.

use crate::aggregates::AGGREGATES;
use crate::functions::FUNCTIONS;

/// Names that other databases have, and what does the same here: an expression, and a remark.
struct Suggestion {
    names: &'static [&'static str],
    /// Of a string s, numbers x and y, a date d, timestamps t and u, and a condition b.
    instead: &'static str,
    remark: &'static str,
}

const fn instead(names: &'static [&'static str], instead: &'static str) -> Suggestion {
    Suggestion { names, instead, remark: "" }
}

const fn remark(names: &'static [&'static str], remark: &'static str) -> Suggestion {
    Suggestion { names, instead: "", remark }
}

pub(crate) const IN_BRC_SQL: &str = "brc-sql has it, and all of SQL, over the same files";

static FUNCTIONS_ELSEWHERE: &[Suggestion] = &[
    // Dates and times.
    Suggestion {
        names: &["date", "to_date", "str_to_date", "parse_date"],
        instead: "cast(s as date)",
        remark: ", for text like 2024-01-31; --date-format reads dates of other forms from text",
    },
    Suggestion {
        names: &["timestamp", "datetime", "strptime", "date_parse", "parse_datetime"],
        instead: "cast(s as timestamp)",
        remark: ", for text like 2024-01-31 23:59; --timestamp-format reads those of other forms from text",
    },
    instead(&["datepart"], "extract(month from t)"),
    instead(&["quarter"], "extract(quarter from t)"),
    instead(&["week", "weekofyear", "isoweek", "week_of_year"], "extract(week from t)"),
    instead(&["dayofweek", "weekday", "day_of_week"], "extract(dow from t)"),
    instead(&["dayofmonth", "day_of_month"], "day(t)"),
    instead(&["dayofyear", "day_of_year"], "extract(doy from t)"),
    instead(&["isodow", "iso_day_of_week"], "extract(isodow from t)"),
    instead(&["dayname", "day_name"], "strftime(t, '%A')"),
    instead(&["monthname", "month_name"], "strftime(t, '%B')"),
    instead(&["last_day", "eomonth"], "date_trunc('month', d) + interval '1 month' - interval '1 day'"),
    instead(&["epoch_ms", "to_unix_timestamp_millis", "unix_millis"], "extract(epoch from t) * 1000"),
    instead(&["epoch", "unix_timestamp", "to_unixtime", "to_epoch"], "extract(epoch from t)"),
    instead(&["timestampdiff", "timestamp_diff", "age"], "date_diff('day', t, u)"),
    instead(&["dateadd", "date_add", "timestampadd", "timestamp_add", "adddate", "add_days"], "t + interval '1 day'"),
    instead(&["add_months", "addmonths"], "t + interval '1 month'"),
    Suggestion {
        names: &["date_sub", "datesub", "subdate"],
        instead: "t - interval '1 day'",
        remark: ", or date_diff('day', t, u) for a difference",
    },
    instead(&["date_format", "format_date", "format_datetime", "datename"], "strftime(t, '%Y-%m-%d')"),
    instead(&["trunc_date", "timestamp_trunc"], "date_trunc('hour', t)"),
    Suggestion {
        names: &["time_bucket", "date_bin"],
        instead: "to_timestamp(bucket(extract(epoch from t), 900))",
        remark: ", for 15 minutes",
    },
    remark(
        &[
            "now",
            "today",
            "getdate",
            "sysdate",
            "curdate",
            "current_date",
            "current_time",
            "current_timestamp",
            "localtime",
            "localtimestamp",
        ],
        "write the time itself, as in timestamp '2024-01-31 23:59:59', so that the answer stays the same",
    ),
    // Strings.
    instead(&["strright", "suffix"], "right(s, 3)"),
    instead(&["strleft"], "left(s, 3)"),
    instead(&["charindex", "locate", "position", "indexof", "index_of", "find"], "strpos(s, 'part')"),
    instead(&["string_length", "char_len"], "length(s)"),
    instead(&["datalength", "lengthb"], "octet_length(s)"),
    instead(&["strip"], "trim(s)"),
    instead(&["lstrip", "trimleft"], "ltrim(s)"),
    instead(&["rstrip", "trimright"], "rtrim(s)"),
    Suggestion { names: &["concat_ws", "join"], instead: "concat(s, ', ', s)", remark: ", which skips nulls" },
    instead(&["tolower", "lowercase", "casefold"], "lower(s)"),
    instead(&["toupper", "uppercase"], "upper(s)"),
    instead(
        &["regexp", "rlike", "regexp_match", "regex_match", "regexp_contains", "match", "matches", "rematch"],
        "regexp_matches(s, 'pattern')",
    ),
    instead(&["regexp_full_match", "fullmatch"], "regexp_matches(s, '^(pattern)$')"),
    instead(&["string_split", "split", "substring_index"], "split_part(s, '-', 1)"),
    instead(
        &["regex_replace", "regexp_sub", "replaceregexpall", "replaceregexpone"],
        "regexp_replace(s, '[0-9]+', 'N', 'g')",
    ),
    instead(&["regex_extract", "regexp_extract_all"], "regexp_extract(s, '([a-z]+)', 1)"),
    instead(&["padleft", "leftpad"], "lpad(s, 5, '0')"),
    remark(
        &["repeat", "reverse", "regexp_count", "regexp_instr", "initcap", "ascii", "chr", "md5", "sha256", "translate"],
        IN_BRC_SQL,
    ),
    instead(&["startswith", "starts", "has_prefix"], "starts_with(s, 'prefix')"),
    instead(&["endswith", "has_suffix"], "ends_with(s, 'suffix')"),
    instead(&["includes", "str_contains"], "contains(s, 'part')"),
    // Types and nulls.
    instead(&["to_string", "tostring", "str", "text", "varchar", "to_varchar", "string"], "cast(x as string)"),
    instead(
        &["convert", "to_number", "tonumber", "int", "integer", "bigint", "to_int", "toint", "cast", "parse_int"],
        "cast(s as int64)",
    ),
    instead(&["try_convert", "safe_cast", "try_cast", "try_to_number", "tryparse"], "try_cast(s as int64)"),
    instead(&["float", "double", "numeric", "decimal", "to_double", "todouble"], "cast(s as float64)"),
    Suggestion { names: &["isnull"], instead: "x is null", remark: ", or coalesce(x, y)" },
    instead(&["isnotnull", "notnull"], "x is not null"),
    instead(&["zeroifnull"], "coalesce(x, 0)"),
    instead(&["nullifzero"], "nullif(x, 0)"),
    instead(&["iff"], "if(b, x, y)"),
    instead(&["nvl2", "decode", "switch", "choose", "multiif"], "case when b then x else y end"),
    remark(&["typeof", "pg_typeof", "data_type"], "brc inspect FILE lists the types of the columns"),
    // Numbers.
    instead(&["isnan", "is_nan"], "x = cast('NaN' as float64)"),
    instead(&["isfinite", "is_finite"], "abs(x) < cast('inf' as float64)"),
    remark(&["bit_and", "bit_or", "bit_xor"], IN_BRC_SQL),
    remark(
        &[
            "sin", "cos", "tan", "cot", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "radians", "degrees",
            "pi",
        ],
        "trigonometric functions are not supported; use brc-sql, which has all of SQL over the same files",
    ),
    instead(&["fix"], "trunc(x)"),
    instead(&["logn"], "log(2, x)"),
    instead(&["square", "sqr"], "x * x"),
    instead(&["div", "intdiv"], "7 // 2"),
    instead(&["remainder", "fmod", "modulo"], "x % 3"),
    instead(&["width_bucket", "histogram", "bin", "bins"], "bucket(x, 10)"),
    instead(&["maximum", "max2"], "greatest(x, y)"),
    // Aggregates.
    instead(&["std", "standard_deviation"], "stddev_samp(x)"),
    instead(
        &[
            "percentile",
            "approx_percentile",
            "approx_quantile",
            "quantiles",
            "percentiles",
            "percentile_approx",
            "tdigest",
        ],
        "quantile(x, 0.95)",
    ),
    instead(&["topk", "top_k", "nlargest", "largest"], "top(x, 3)"),
    instead(&["count_distinct", "countdistinct", "nunique", "n_distinct", "uniq", "uniqexact"], "count(distinct x)"),
    instead(&["approx_distinct", "ndv", "hll"], "approx_count_distinct(x)"),
    instead(&["countif", "count_if"], "count(*) filter (where b)"),
    instead(&["sumif", "sum_if", "avgif", "avg_if"], "sum(x) filter (where b)"),
    instead(&["array_agg", "list", "list_agg", "collect_list", "collect", "json_agg"], "string_agg(s, ', ')"),
    instead(&["first_value"], "first(x)"),
    instead(&["last_value"], "last(x)"),
    instead(&["total"], "sum(x)"),
    instead(&["correlation", "pearson"], "corr(x, y)"),
    remark(&["rollup", "cube", "grouping"], "a query has one set of keys; run one query for each set"),
    remark(
        &["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "nth_value"],
        "window functions are not supported; use brc-sql, which has all of SQL over the same files",
    ),
];

static OPERATORS_ELSEWHERE: &[Suggestion] = &[
    instead(&["~", "~~~", "rlike", "regexp"], "regexp_matches(s, 'pattern')"),
    Suggestion {
        names: &["similar to"],
        instead: "regexp_matches(s, '^(pattern)$')",
        remark: ", with .* for % and . for _",
    },
    instead(&["~*"], "regexp_matches(s, '(?i)pattern')"),
    instead(&["!~"], "not regexp_matches(s, 'pattern')"),
    instead(&["!~*"], "not regexp_matches(s, '(?i)pattern')"),
    instead(&["glob", "~~"], "s like 'a%'"),
    instead(&["~~*"], "s ilike 'a%'"),
    instead(&["!~~"], "s not like 'a%'"),
    instead(&["^", "**"], "power(x, 2)"),
    instead(&["div"], "7 // 2"),
    instead(&["mod"], "x % 3"),
    instead(&["&&"], "b and x > 1"),
    instead(&["xor"], "b <> (x > 1)"),
    instead(&["^@"], "starts_with(s, 'prefix')"),
];

fn find(suggestions: &'static [Suggestion], name: &str) -> Option<&'static Suggestion> {
    suggestions.iter().find(|suggestion| suggestion.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

impl Suggestion {
    /// What a message goes on with.
    fn text(&self) -> String {
        match (self.instead, self.remark) {
            ("", remark) => format!(": {remark}"),
            (instead, remark) => format!("; write {instead}{remark}"),
        }
    }
}

/// Forms that are no functions, but look like them; they are looked up as one only with the wrong number of arguments.
const CHOICES: [(&[&str], &str); 3] = [
    (&["coalesce", "ifnull", "nvl"], "coalesce(a, b, …)"),
    (&["nullif"], "nullif(a, b)"),
    (&["if", "iif"], "if(condition, x, y)"),
];

/// The known name that is closest, if any is close enough to be a slip.
pub(crate) fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let close = |candidate: &'a str| {
        let distance = strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
        (distance <= 1 + name.chars().count() / 5).then_some((distance, candidate))
    };
    known.filter_map(close).min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// There is no such function: what there is.
pub(crate) fn unknown_function(name: &str) -> String {
    if let Some((_, usage)) = CHOICES.iter().find(|(names, _)| names.contains(&name)) {
        return format!("'{name}' is written {usage}");
    }
    let hint = match find(FUNCTIONS_ELSEWHERE, name) {
        Some(suggestion) => suggestion.text(),
        None => {
            let aggregates = AGGREGATES.iter().map(|function| function.name);
            let functions = FUNCTIONS.iter().map(|function| function.name);
            match meant(name, aggregates.chain(functions).chain(["coalesce", "nullif"])) {
                Some(meant) => format!(", did you mean '{meant}'? (brc functions lists all)"),
                None => " (brc functions lists all)".to_owned(),
            }
        }
    };
    format!("unknown function '{name}'{hint}")
}

/// The same of operators.
pub(crate) fn unknown_operator(name: &str) -> String {
    let hint = find(OPERATORS_ELSEWHERE, name).map(Suggestion::text).unwrap_or_default();
    format!("the operator '{}' is not supported{hint}", name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregates::AggregateFunction;
    use crate::functions::Function;
    use crate::sql::query::Query;
    use brc_core::Schema;
    use std::collections::HashSet;

    #[test]
    fn what_is_suggested_is_there() {
        let schema = Schema::parse("s:string,x:float64,y:float64,d:date,t:timestamp,u:timestamp,b:bool").unwrap();
        for Suggestion { instead, remark, .. } in FUNCTIONS_ELSEWHERE.iter().chain(OPERATORS_ELSEWHERE) {
            assert!(!instead.is_empty() || !remark.is_empty());
            if !instead.is_empty() {
                let plan = Query::parse(&format!("select {instead}")).unwrap().plan(&schema);
                assert!(plan.is_ok(), "{instead}: {}", plan.unwrap_err());
            }
        }
    }

    #[test]
    fn what_is_there_is_not_replaced() {
        let mut names = HashSet::new();
        for name in FUNCTIONS_ELSEWHERE.iter().flat_map(|suggestion| suggestion.names) {
            assert!(names.insert(name), "{name}");
            assert!(Function::by_name(name).is_none() && AggregateFunction::by_name(name, false).is_none(), "{name}");
        }
    }

    #[test]
    fn words_of_other_databases_are_understood() {
        for (expression, message) in [
            ("timestampdiff('day', t, t)", "unknown function 'timestampdiff'; write date_diff('day', t, u)"),
            ("now()", "unknown function 'now': write the time itself"),
            ("current_date", "unknown function 'current_date': write the time itself"),
            ("convert(x, char)", "unknown function 'convert'; write cast(s as int64)"),
            ("s ~ 'a'", "the operator '~' is not supported; write regexp_matches(s, 'pattern')"),
            ("s rlike 'a'", "the operator 'rlike' is not supported; write regexp_matches(s, 'pattern')"),
            ("s glob 'a*'", "the operator 'glob' is not supported; write s like 'a%'"),
            ("x div 2", "the operator 'div' is not supported; write 7 // 2"),
            ("x ^ 2", "the operator '^' is not supported; write power(x, 2)"),
            ("x > 1 && x < 2", "the operator '&&' is not supported; write b and x > 1"),
            ("lenght(s)", "unknown function 'lenght', did you mean 'length'? (brc functions lists all)"),
            ("frobnicate(s)", "unknown function 'frobnicate' (brc functions lists all)"),
            ("percentile(x, 0.5)", "unknown function 'percentile'; write quantile(x, 0.95)"),
            ("date_format(t, 'YYYY')", "unknown function 'date_format'; write strftime(t, '%Y-%m-%d')"),
            ("regexp_count(s, 'a')", "unknown function 'regexp_count': brc-sql has it"),
            ("add_months(t, 1)", "unknown function 'add_months'; write t + interval '1 month'"),
            ("concat_ws('-', s, s)", "unknown function 'concat_ws'; write concat(s, ', ', s), which skips nulls"),
            ("row_number()", "unknown function 'row_number': window functions are not supported"),
        ] {
            let schema = Schema::parse("s:string,x:float64,t:timestamp").unwrap();
            let found = match Query::parse(&format!("select {expression}")) {
                Ok(query) => query.plan(&schema).unwrap_err().to_string(),
                Err(error) => error.to_string(),
            };
            assert!(found.starts_with(message), "{expression}: {found}");
        }
    }
}
