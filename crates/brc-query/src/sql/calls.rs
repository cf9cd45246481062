//! Converts calls of functions from the tree of `sqlparser`.

use super::convert::{self, Converted, Converter};
use super::{Call, Kind, Literal, Syntax, SyntaxError};
use brc_core::Comparison;
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, OrderByExpr, OrderBySort,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

pub(super) const WINDOW: &str =
    "window functions ('over') are not supported; use brc-sql, which has all of SQL over the same files";

/// Their first argument is a unit of time, which may be a bare word: `date_trunc(month, t)`.
const UNIT_FIRST: [&str; 3] = ["date_trunc", "date_diff", "datediff"];

/// How many parts what is written once but computed twice may have: nested, they double at each level.
const MAX_DOUBLED_PARTS: usize = 1000;

/// Writes `trim(both from s)` with what is trimmed, which `sqlparser` asks for.
pub(super) fn trim_spaces(tokens: &mut Vec<TokenWithSpan>) {
    const SIDES: [Keyword; 3] = [Keyword::BOTH, Keyword::LEADING, Keyword::TRAILING];
    let keyword = |token: &Token| match token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let is_blank = |at: &usize| matches!(tokens[*at].token, Token::Whitespace(_));
    let places: Vec<usize> = (0..tokens.len()).filter(|at| !is_blank(at)).collect();
    // From the back, so that what is inserted moves no token that is still to be looked at.
    for four in places.windows(4).rev() {
        let [trim, open, side, from] = [0, 1, 2, 3].map(|place| &tokens[four[place]].token);
        let is_trim = keyword(trim) == Keyword::TRIM && *open == Token::LParen && SIDES.contains(&keyword(side));
        if is_trim && keyword(from) == Keyword::FROM {
            let span = tokens[four[3]].span;
            tokens.insert(four[3], TokenWithSpan { token: Token::SingleQuotedString(" ".to_owned()), span });
        }
    }
}

impl Converter<'_> {
    fn function(&self, function: Function, position: usize) -> Converted<Call> {
        let name = function.name.to_string().to_lowercase();
        if function.over.is_some() {
            return Err(SyntaxError::new(WINDOW, position, self.source));
        }
        if function.null_treatment.is_some() {
            return self.refuse(format!("'ignore nulls' or 'respect nulls' after '{name}'"), position);
        }
        let FunctionArguments::List(list) = function.args else {
            return Err(self.no_function(&name, position));
        };
        if let Some(clause) = list.clauses.first() {
            return self.refuse(format!("'{clause}' inside '{name}'"), position);
        }
        // `count(*)` and `count(t.*)` count rows, as `count()` does.
        let is_of_rows = matches!(
            list.args[..],
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard | FunctionArgExpr::QualifiedWildcard(_))]
        );
        let (mut arguments, mut shown) = (Vec::new(), Vec::new());
        for argument in if is_of_rows { Vec::new() } else { list.args } {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) = argument else {
                return self.refuse(format!("'{argument}' inside '{name}'"), position);
            };
            shown.push(expression.to_string());
            arguments.push(self.expression(expression)?);
        }
        if let Some(column) = self.within_group(&name, function.within_group, position)? {
            shown.insert(0, column.to_string());
            arguments.insert(0, self.expression(column)?);
        }
        if UNIT_FIRST.contains(&name.as_str())
            && let Some(Syntax { kind, .. }) = arguments.first_mut()
            && let Kind::Column(unit) = kind
        {
            *kind = Kind::Literal(Literal::Text(unit.to_lowercase().into_bytes()));
        }
        let distinct = matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct));
        if let Some(filter) = &function.filter {
            // Rows that the filter leaves out have no first argument.
            let of_all = if shown.is_empty() { "true".to_owned() } else { shown.remove(0) };
            shown.insert(0, format!("CASE WHEN {filter} THEN {of_all} END"));
        }
        let filter = function.filter.map(|filter| self.boxed(*filter)).transpose()?;
        Ok(Call { name, distinct, arguments, shown, filter })
    }

    /// `percentile_cont(0.5) within group (order by x)` is `percentile_cont(x, 0.5)`: the column.
    fn within_group(&self, name: &str, mut order: Vec<OrderByExpr>, position: usize) -> Converted<Option<Expr>> {
        const NAMES: [&str; 5] = ["percentile_cont", "percentile_disc", "quantile_cont", "quantile_disc", "mode"];
        let Some(by) = order.pop() else { return Ok(None) };
        if !order.is_empty() {
            return self.refuse("'within group' of several columns".to_owned(), position);
        }
        if !NAMES.contains(&name) {
            return self.refuse(format!("'within group' after '{name}'"), position);
        }
        if by.options.sort == Some(OrderBySort::Desc) {
            let otherwise = if name.ends_with("_cont") { "; take the other end: 0.1 for 0.9" } else { "" };
            let message = format!("'desc' inside 'within group' after '{name}' is not supported{otherwise}");
            return Err(SyntaxError::new(message, position, self.source));
        }
        Ok(Some(by.expr))
    }

    /// `one is not distinct from other`: equal, or both null.
    pub(super) fn are_same(&self, one: Expr, other: Expr, position: usize) -> Converted<Kind> {
        let both = vec![self.expression(one)?, self.expression(other)?];
        self.check_doubled(&both, "is distinct from", position)?;
        let of = |kind| Syntax { kind, position };
        let is_null = |part: &Syntax| of(Kind::IsNull(Box::new(part.clone())));
        if let Some(null) = both.iter().position(|part| part.kind == Kind::Literal(Literal::Null)) {
            return Ok(is_null(&both[1 - null]).kind);
        }
        let equal = Kind::Compare(Comparison::Equal, Box::new(both[0].clone()), Box::new(both[1].clone()));
        let nulls = Kind::And(both.iter().map(is_null).collect());
        Ok(Kind::Call(convert::call("coalesce", vec![of(equal), of(nulls)])))
    }

    /// Checks the length of what is written once but computed twice.
    fn check_doubled(&self, doubled: &[Syntax], of: &str, position: usize) -> Converted<()> {
        let mut parts = 0;
        doubled.iter().for_each(|part| part.walk(&mut |_| parts += 1));
        match parts > MAX_DOUBLED_PARTS {
            true => self.refuse(format!("an expression of this length inside '{of}'"), position),
            false => Ok(()),
        }
    }

    /// A call; or the `case` that it is short for.
    pub(super) fn choice(&self, function: Function, position: usize) -> Converted<Kind> {
        let mut call = self.function(function, position)?;
        let is_plain = !call.distinct && call.filter.is_none();
        let is_null = |argument: &Syntax| argument.kind == Kind::Literal(Literal::Null);
        Ok(match (call.name.as_str(), call.arguments.len()) {
            ("if" | "iif", 2 | 3) if is_plain => {
                let otherwise = call.arguments.drain(2..).next().map(Box::new);
                let branch = call.arguments.pop().zip(call.arguments.pop()).map(|(then, when)| (when, then));
                Kind::Case { operand: None, branches: branch.into_iter().collect(), otherwise }
            }
            ("nullif", 2) if is_plain && call.arguments.iter().any(is_null) => call.arguments.swap_remove(0).kind,
            ("nullif", 2) if is_plain => {
                self.check_doubled(&call.arguments[..1], "nullif", position)?;
                let (one, other) = (call.arguments.swap_remove(0), call.arguments.swap_remove(0));
                let equal = Kind::Compare(Comparison::Equal, Box::new(one.clone()), Box::new(other));
                let null = Syntax { kind: Kind::Literal(Literal::Null), position };
                let branches = vec![(Syntax { kind: equal, position }, null)];
                Kind::Case { operand: None, branches, otherwise: Some(Box::new(one)) }
            }
            _ => Kind::Call(call),
        })
    }
}
