//! `select … [from t] [where …] [group by …] [having …] [order by …] [limit n] [offset n]`: clause by clause, so that
//! whatever else stands there is named with its place.

use super::{Parser, SyntaxError};
use crate::expression::{Expression, OrderBy, SelectItem};
use crate::query::Query;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// What stands behind a column's expression without being its name.
const CLAUSES: [Keyword; 9] = [
    Keyword::FROM,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::ORDER,
    Keyword::LIMIT,
    Keyword::OFFSET,
    Keyword::UNION,
    Keyword::NULLS,
];

impl Parser {
    /// A whole `select`.
    pub(crate) fn select(mut self) -> Result<Query, SyntaxError> {
        if !self.keyword(Keyword::SELECT) {
            return Err(self.expected("'select'"));
        }
        let mut query = Query { distinct: self.keyword(Keyword::DISTINCT), ..Query::default() };
        self.keyword(Keyword::ALL);
        query.select = Some(self.list(Self::item)?);
        self.from()?;
        if self.keyword(Keyword::WHERE) {
            query.filter = Some(self.expression("a condition")?);
        }
        query.by = Some(Vec::new());
        if self.keyword(Keyword::GROUP) {
            self.require(Keyword::BY, "'by'")?;
            query.group_by_all = self.keyword(Keyword::ALL);
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
        self.limits(&mut query)?;
        self.take(&Token::SemiColon);
        self.end("a clause (from, where, group by, having, order by, limit, offset) or the end")?;
        Ok(query)
    }

    fn require(&mut self, keyword: Keyword, expected: &str) -> Result<(), SyntaxError> {
        if self.keyword(keyword) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn item(&mut self) -> Result<SelectItem, SyntaxError> {
        if self.take(&Token::Mul) {
            return Ok(SelectItem::All { exclude: self.exclude()? });
        }
        let expression = self.expression("an expression")?;
        let alias = if self.keyword(Keyword::AS) { Some(self.name()?) } else { self.bare_alias() };
        Ok(SelectItem::Expression { expression, alias })
    }

    /// `exclude (a, b)` or `exclude a` after a `*`.
    fn exclude(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        if !self.keyword(Keyword::EXCLUDE) {
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

    fn name(&mut self) -> Result<String, SyntaxError> {
        let Token::Word(word) = self.peek() else { return Err(self.expected("a name")) };
        let name = word.value.clone();
        self.advance();
        Ok(name)
    }

    /// `from t`: the only table there is, whatever it is called.
    fn from(&mut self) -> Result<(), SyntaxError> {
        if !self.keyword(Keyword::FROM) {
            return Ok(());
        }
        match self.peek() {
            Token::Word(_) | Token::SingleQuotedString(_) => self.advance(),
            Token::LParen => return Err(self.refuse("a query inside a query is not supported")),
            _ => return Err(self.expected("the name of the table")),
        };
        if self.keyword(Keyword::AS) {
            self.name()?;
        } else if let Token::Word(word) = self.peek()
            && word.keyword == Keyword::NoKeyword
        {
            self.advance();
        }
        match self.peek() {
            Token::Comma => Err(self.refuse("more than one table is not supported")),
            Token::Word(word) if is_join(word.keyword) => {
                let message =
                    format!("'{}' is not supported: only one table can be queried", word.value.to_lowercase());
                Err(self.refuse(message))
            }
            _ => Ok(()),
        }
    }

    /// An item of `order by`.
    pub(crate) fn order(&mut self) -> Result<OrderBy, SyntaxError> {
        let is_all =
            matches!(self.peek(), Token::Word(word) if word.quote_style.is_none() && word.keyword == Keyword::ALL);
        let expression = if is_all { self.column()? } else { self.expression("an expression")? };
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

    fn limits(&mut self, query: &mut Query) -> Result<(), SyntaxError> {
        loop {
            if self.keyword(Keyword::LIMIT) {
                query.limit = Some(self.count()?);
            } else if self.keyword(Keyword::OFFSET) {
                query.offset = self.count()?;
            } else {
                return Ok(());
            }
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
