//! The SQL of DuckDB, which is closest to what is supported here, but for the arguments of functions: in `bool_and(a =
//! b)` these are conditions, not values with names.

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, DuckDbDialect, Precedence};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use std::any::TypeId;

#[derive(Debug)]
pub(super) struct OurDialect;

const LIKE: DuckDbDialect = DuckDbDialect {};

/// `x isnull` is `x is null`, as `x notnull` is `x is not null`.
fn is_isnull(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("isnull"))
}

/// Only what concerns expressions and the clauses of a `select` matters.
impl Dialect for OurDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<DuckDbDialect>()
    }

    /// `'a' || x + 1` is `'a' || (x + 1)`, as in PostgreSQL.
    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        match &parser.peek_token_ref().token {
            Token::StringConcat => Some(Ok(self.prec_value(Precedence::PlusMinus) - 1)),
            token if is_isnull(token) => Some(Ok(self.prec_value(Precedence::Is))),
            _ => None,
        }
    }

    fn parse_infix(&self, parser: &mut Parser<'_>, left: &Expr, _: u8) -> Option<Result<Expr, ParserError>> {
        if !is_isnull(&parser.peek_token_ref().token) {
            return None;
        }
        parser.advance_token();
        Some(Ok(Expr::IsNull(Box::new(left.clone()))))
    }

    fn supports_named_fn_args_with_eq_operator(&self) -> bool {
        false
    }

    fn is_identifier_start(&self, character: char) -> bool {
        LIKE.is_identifier_start(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        LIKE.is_identifier_part(character)
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        LIKE.supports_filter_during_aggregation()
    }

    fn supports_group_by_expr(&self) -> bool {
        LIKE.supports_group_by_expr()
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        LIKE.supports_bitwise_shift_operators()
    }

    fn supports_dictionary_syntax(&self) -> bool {
        LIKE.supports_dictionary_syntax()
    }

    fn support_map_literal_syntax(&self) -> bool {
        LIKE.support_map_literal_syntax()
    }

    fn supports_lambda_functions(&self) -> bool {
        LIKE.supports_lambda_functions()
    }

    fn allow_extract_single_quotes(&self) -> bool {
        LIKE.allow_extract_single_quotes()
    }

    fn supports_notnull_operator(&self) -> bool {
        LIKE.supports_notnull_operator()
    }

    fn supports_comma_separated_trim(&self) -> bool {
        LIKE.supports_comma_separated_trim()
    }

    fn supports_numeric_literal_underscores(&self) -> bool {
        LIKE.supports_numeric_literal_underscores()
    }
}
