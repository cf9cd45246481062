//! `[from t] select … [from t] [where …] [group by …] [having …] [order by …] [limit n] [offset n]`: clause by clause,
//! so that anything else is reported with its position.

use super::calls::WINDOW;
use super::script::TableName;
use super::{Kind, Literal, Parser, SyntaxError};
use crate::sql::expression::{Expression, OrderBy, SelectItem};
use crate::sql::query::Query;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// What stands after a column's expression without being its name.
const CLAUSES: [Keyword; 13] = [
    Keyword::FROM,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::ORDER,
    Keyword::LIMIT,
    Keyword::OFFSET,
    Keyword::FETCH,
    Keyword::QUALIFY,
    Keyword::UNION,
    Keyword::EXCEPT,
    Keyword::INTERSECT,
    Keyword::NULLS,
];

const SET_OPERATIONS: [Keyword; 3] = [Keyword::UNION, Keyword::EXCEPT, Keyword::INTERSECT];

/// What does with several tables what brc does not.
const ELSEWHERE: &str = "brc query asks one table; use brc-sql, which has all of SQL over the same files";

/// How to do without several sets of keys.
const ONE_SET_OF_KEYS: &str = "a query has one set of keys; run one query for each set, or use brc-sql, which has all \
                               of SQL over the same files";

/// How to do without a query inside another.
const INNER_FIRST: &str = "save the inner result first and query that: \
                           brc query FILE 'select …' -o part.buren; or use brc-sql";

impl Parser {
    /// A whole `select`, and nothing else.
    pub(crate) fn select(mut self) -> Result<Query, SyntaxError> {
        let (query, _) = self.select_of_table()?;
        self.take(&Token::SemiColon);
        self.end("the end")?;
        Ok(query)
    }

    /// A `select`, or `from t` with or without one, and how it names its table.
    pub(super) fn select_of_table(&mut self) -> Result<(Query, Option<TableName>), SyntaxError> {
        if matches!(self.peek(), Token::Word(word) if word.keyword == Keyword::WITH) {
            return Err(self.refuse(format!("'with' is not supported: {INNER_FIRST}")));
        }
        self.enter_table();
        let mut table = self.from()?;
        let mut query = Query { select: Some(vec![SelectItem::ALL]), by: Some(Vec::new()), ..Query::default() };
        if self.keyword(Keyword::SELECT) {
            query.distinct = self.keyword(Keyword::DISTINCT);
            if query.distinct && self.is_next(Keyword::ON) && self.peek_at(1) == &Token::LParen {
                let message = "'distinct on' is not supported; group by takes one row of each group, as in select \
                               name, max_by(value, time) group by name; or use brc-sql, which has all of SQL";
                return Err(self.refuse(message));
            }
            self.keyword(Keyword::ALL);
            if matches!((self.peek(), self.peek_at(1)), (Token::Word(word), Token::Number(..)) if word.keyword == Keyword::TOP)
            {
                return Err(self.refuse("'select top n' is not supported; end the query with limit n"));
            }
            query.select = Some(self.list(Self::item)?);
            let position = self.position();
            table = match (table, self.from()?) {
                (Some(_), Some(_)) => return Err(self.error_at("the table is named twice", position)),
                (first, second) => first.or(second),
            };
        } else if table.is_none() {
            return Err(self.expected("'select'"));
        }
        self.clauses(&mut query)?;
        Ok((query, table))
    }

    /// All that follows the table.
    fn clauses(&mut self, query: &mut Query) -> Result<(), SyntaxError> {
        if self.keyword(Keyword::WHERE) {
            query.filter = Some(self.expression("a condition")?);
        }
        if self.keyword(Keyword::GROUP) {
            self.require(Keyword::BY, "'by'")?;
            query.group_by_all = self.keyword(Keyword::ALL);
            if self.is_next(Keyword::GROUPING)
                && matches!(self.peek_at(1), Token::Word(word) if word.keyword == Keyword::SETS)
            {
                return Err(self.refuse(format!("'grouping sets' is not supported: {ONE_SET_OF_KEYS}")));
            }
            if !query.group_by_all {
                query.by = Some(self.list(|parser| parser.expression("an expression"))?);
            }
        }
        if self.keyword(Keyword::HAVING) {
            query.having = Some(self.expression("a condition")?);
        }
        if self.keyword(Keyword::ORDER) {
            self.require(Keyword::BY, "'by'")?;
            query.order_by = self.list(Self::order)?;
        }
        self.limits(query)?;
        match self.peek() {
            Token::SemiColon | Token::EOF => Ok(()),
            Token::Word(word) if word.keyword == Keyword::QUALIFY => {
                Err(self.refuse(format!("'qualify' is not supported: {WINDOW}")))
            }
            Token::Word(word) if SET_OPERATIONS.contains(&word.keyword) => {
                let word = word.value.to_lowercase();
                let message = format!("'{word}' is not supported; several files are one table: brc query FILE FILE …");
                Err(self.refuse(message))
            }
            _ => Err(self.expected(
                "a clause (in this order: from, where, group by, having, order by, limit, offset) or the end",
            )),
        }
    }

    fn require(&mut self, keyword: Keyword, expected: &str) -> Result<(), SyntaxError> {
        if self.keyword(keyword) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn item(&mut self) -> Result<SelectItem, SyntaxError> {
        if self.all_columns()? {
            let exclude = self.exclude()?;
            if self.is_next(Keyword::REPLACE) || self.is_next(Keyword::RENAME) {
                let message =
                    "'replace' and 'rename' after '*' are not supported; write select * exclude (a), f(a) as a";
                return Err(self.refuse(message));
            }
            return Ok(SelectItem::All { exclude });
        }
        if self.is_clause() {
            return Err(self.expected("an expression"));
        }
        let expression = self.expression("an expression")?;
        let alias = if self.keyword(Keyword::AS) { Some(self.name()?) } else { self.bare_alias() };
        Ok(SelectItem::Expression { expression, alias })
    }

    /// Takes `*`, or `t.*` of the only table there is, if it is next.
    fn all_columns(&mut self) -> Result<bool, SyntaxError> {
        let mut names = 0;
        while matches!(self.peek_at(2 * names), Token::Word(_)) && self.peek_at(2 * names + 1) == &Token::Period {
            names += 1;
        }
        let is_next = self.peek_at(2 * names) == &Token::Mul;
        if is_next {
            let words = (0..names).filter_map(|name| match self.peek_at(2 * name) {
                Token::Word(word) => Some(word.value.as_str()),
                _ => None,
            });
            let table = words.collect::<Vec<_>>().join(".");
            if names > 0 && !self.table.iter().any(|known| known.eq_ignore_ascii_case(&table)) {
                return Err(self.refuse(format!("unknown table '{table}' before '.*'")));
            }
            (0..=2 * names).for_each(|_| drop(self.advance()));
        }
        Ok(is_next)
    }

    /// Whether a clause is next; a column may be called as one begins.
    fn is_clause(&self) -> bool {
        let Token::Word(word) = self.peek() else { return false };
        let is_by = matches!(self.peek_at(1), Token::Word(word) if word.keyword == Keyword::BY);
        let is_whole = matches!(word.keyword, Keyword::FROM | Keyword::WHERE | Keyword::HAVING);
        word.quote_style.is_none() && (is_whole || is_by && matches!(word.keyword, Keyword::GROUP | Keyword::ORDER))
    }

    /// `exclude (a, b)` or `exclude a` after a `*`; also `except (a, b)`, unless a `select` follows.
    fn exclude(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        let is_select = matches!(self.peek_at(2), Token::Word(word) if word.keyword == Keyword::SELECT);
        let is_except = self.peek_at(1) == &Token::LParen && !is_select;
        let is_excluding = self.keyword(Keyword::EXCLUDE) || is_except && self.keyword(Keyword::EXCEPT);
        if !is_excluding {
            return Ok(Vec::new());
        }
        if !self.take(&Token::LParen) {
            return Ok(vec![self.column()?]);
        }
        let columns = self.list(Self::column)?;
        if self.take(&Token::RParen) { Ok(columns) } else { Err(self.expected("',' or ')'")) }
    }

    fn bare_alias(&mut self) -> Option<String> {
        match self.peek() {
            Token::Word(word) if word.quote_style.is_some() || !CLAUSES.contains(&word.keyword) => self.name().ok(),
            _ => None,
        }
    }

    pub(super) fn name(&mut self) -> Result<String, SyntaxError> {
        let Token::Word(word) = self.peek() else { return Err(self.expected("a name")) };
        let name = word.value.clone();
        self.advance();
        Ok(name)
    }

    /// `from t`.
    fn from(&mut self) -> Result<Option<TableName>, SyntaxError> {
        if !self.keyword(Keyword::FROM) {
            return Ok(None);
        }
        let table = self.table()?;
        if self.keyword(Keyword::AS) {
            self.name()?;
        } else if let Token::Word(word) = self.peek()
            && word.keyword == Keyword::NoKeyword
        {
            self.advance();
        }
        match self.peek() {
            Token::Comma => Err(self.refuse(format!("more than one table is not supported: {ELSEWHERE}"))),
            Token::Word(word) if is_join(word.keyword) => {
                let word = word.value.to_lowercase();
                Err(self.refuse(format!("'{word}' is not supported: {ELSEWHERE}")))
            }
            _ => Ok(Some(table)),
        }
    }

    /// The name of a table: a word, words with dots between as in `flights.csv`, or anything in quotes.
    pub(super) fn table(&mut self) -> Result<TableName, SyntaxError> {
        let position = self.position();
        let (mut name, is_quoted) = match self.peek() {
            Token::Word(word) => (word.value.clone(), word.quote_style.is_some()),
            Token::SingleQuotedString(name) => (name.clone(), true),
            Token::LParen => {
                return Err(self.refuse(format!("subqueries are not supported: {INNER_FIRST}")));
            }
            Token::EOF | Token::SemiColon => return Err(self.expected("the name of the table")),
            _ => return Err(self.unquoted_file(position)),
        };
        self.advance();
        while !is_quoted && self.take(&Token::Period) {
            name = format!("{name}.{}", self.name()?);
        }
        let goes_on = !matches!(self.peek(), Token::LParen | Token::RParen | Token::Comma | Token::SemiColon);
        if !is_quoted && goes_on && self.is_adjacent() {
            return Err(self.unquoted_file(position));
        }
        if self.peek() == &Token::LParen {
            let message = "table functions are not supported; name the file itself: from 'a.csv'";
            return Err(self.error_at(message, position));
        }
        Ok(TableName::new(name, is_quoted, position, self.source()))
    }

    /// A name of a file that is more than words.
    fn unquoted_file(&self, position: usize) -> SyntaxError {
        let source = self.source();
        let rest = source.get(position..).unwrap_or_default();
        let name = rest.split(|character: char| character.is_whitespace() || matches!(character, ';' | ')' | '\''));
        let name = name.take(1).collect::<String>();
        self.error_at(format!("write the name of a file in quotes: from '{name}'"), position)
    }

    /// An item of `order by`.
    pub(crate) fn order(&mut self) -> Result<OrderBy, SyntaxError> {
        let is_all = self.is_next(Keyword::ALL);
        let position = self.position();
        let expression = if is_all { self.column()? } else { self.expression("an expression")? };
        if sorts_nothing(&expression.syntax().kind) {
            let message = "a constant sorts nothing; names of columns are written in double quotes";
            return Err(self.error_at(message, position));
        }
        let descending = self.keyword(Keyword::DESC);
        if !descending {
            self.keyword(Keyword::ASC);
        }
        let mut nulls_first = false;
        if self.keyword(Keyword::NULLS) {
            nulls_first = self.keyword(Keyword::FIRST);
            if !nulls_first {
                self.require(Keyword::LAST, "'first' or 'last'")?;
            }
        }
        Ok(OrderBy { expression, is_all, descending, nulls_first })
    }

    /// `limit`, `offset` and, of standard SQL, `fetch first 10 rows only`, in any order.
    fn limits(&mut self, query: &mut Query) -> Result<(), SyntaxError> {
        loop {
            let position = self.position();
            if self.keyword(Keyword::LIMIT) {
                let count = if self.keyword(Keyword::ALL) { None } else { Some(self.count()?) };
                if self.peek() == &Token::Comma {
                    return Err(self.error_at("'limit a, b' is not supported; write limit b offset a", position));
                }
                self.set_limit(query, count, position)?;
            } else if self.keyword(Keyword::OFFSET) {
                query.offset = self.count()?;
                self.rows();
            } else if self.keyword(Keyword::FETCH) {
                if !self.keyword(Keyword::FIRST) {
                    self.require(Keyword::NEXT, "'first' or 'next'")?;
                }
                let count = if matches!(self.peek(), Token::Number(..)) { self.count()? } else { 1 };
                self.rows();
                self.require(Keyword::ONLY, "'only'")?;
                self.set_limit(query, Some(count), position)?;
            } else {
                return Ok(());
            }
        }
    }

    fn set_limit(&self, query: &mut Query, count: Option<u64>, position: usize) -> Result<(), SyntaxError> {
        match std::mem::replace(&mut query.limit, count) {
            Some(_) => Err(self.error_at("the number of rows is limited twice", position)),
            None => Ok(()),
        }
    }

    fn count(&mut self) -> Result<u64, SyntaxError> {
        let count = match self.peek() {
            Token::Number(text, _) => text.parse().ok(),
            _ => None,
        };
        let count = count.ok_or_else(|| self.expected("a number of rows"))?;
        self.advance();
        Ok(count)
    }

    /// Takes `row` or `rows`, if it is next.
    fn rows(&mut self) {
        if !self.keyword(Keyword::ROWS) {
            self.keyword(Keyword::ROW);
        }
    }

    fn is_next(&self, keyword: Keyword) -> bool {
        matches!(self.peek(), Token::Word(word) if word.quote_style.is_none() && word.keyword == keyword)
    }
}

/// Whether an expression is a constant, other than the position of a column.
fn sorts_nothing(kind: &Kind) -> bool {
    match kind {
        Kind::Literal(Literal::Number(number)) => {
            number.exponential || !number.to_string().bytes().all(|byte| byte.is_ascii_digit())
        }
        Kind::Literal(Literal::Null) => false,
        Kind::Literal(_) => true,
        _ => false,
    }
}

fn is_join(keyword: Keyword) -> bool {
    const JOINS: [Keyword; 8] = [
        Keyword::JOIN,
        Keyword::INNER,
        Keyword::LEFT,
        Keyword::RIGHT,
        Keyword::FULL,
        Keyword::CROSS,
        Keyword::NATURAL,
        Keyword::ASOF,
    ];
    JOINS.contains(&keyword)
}
