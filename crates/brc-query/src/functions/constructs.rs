//! What is no function and no operator of two values, but belongs to the list of them: conditions, choices and casts.

/// A way to write an expression.
pub struct Construct {
    /// How it is written.
    pub usage: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// An expression of constants, and its value as text.
    pub example: (&'static str, &'static str),
}

/// All of them, in the order in which help texts show them.
pub static CONSTRUCTS: &[Construct] = &[
    Construct {
        usage: "a and b",
        about: "whether both are true; null if that depends on a null",
        example: ("1 < 2 and 2 < 3", "true"),
    },
    Construct { usage: "a or b", about: "whether at least one is true", example: ("1 > 2 or 2 < 3", "true") },
    Construct { usage: "not a", about: "whether a is false", example: ("not 1 > 2", "true") },
    Construct {
        usage: "x in (a, b, …)", about: "whether x is one of the values", example: ("3 in (1, 2, 3)", "true")
    },
    Construct {
        usage: "x between a and b",
        about: "whether x is at least a and at most b",
        example: ("2 between 1 and 2", "true"),
    },
    Construct { usage: "x is null", about: "whether x is null; also is not null", example: ("1 is null", "false") },
    Construct {
        usage: "case when a then x … else y end",
        about: "the value after the first condition that is true, or else y; null if there is neither",
        example: ("case when 1 > 2 then 'more' else 'less' end", "less"),
    },
    Construct {
        usage: "case v when a then x … else y end",
        about: "the value after the first one that v equals; null if there is none and no else",
        example: ("case 2 when 1 then 'one' when 2 then 'two' end", "two"),
    },
    Construct {
        usage: "if(a, x, y)",
        about: "x if a is true, else y; null if there is no y; also iif",
        example: ("if(1 > 2, 'more', 'less')", "less"),
    },
    Construct {
        usage: "coalesce(a, b, …)",
        about: "the first value that is not null; also ifnull, nvl",
        example: ("coalesce(null, 7, 8)", "7"),
    },
    Construct { usage: "nullif(a, b)", about: "a, or null if a equals b", example: ("coalesce(nullif(5, 5), 0)", "0") },
    Construct {
        usage: "cast(x as type)",
        about: "x as a value of another type; also x::type. Integers are days of a date, and units of a timestamp, since 1970-01-01",
        example: ("cast('2024-02-29' as date)", "2024-02-29"),
    },
    Construct {
        usage: "try_cast(x as type)",
        about: "the same, but null if x cannot be cast",
        example: ("try_cast('ten' as int64) is null", "true"),
    },
];
