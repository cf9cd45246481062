//! From tokens to a tree, by precedence climbing.

use super::lexer::{Cursor, Kind, Token};
use super::number::Number;
use super::{Column, Constant, Literal, Node, SyntaxError};
use brc_core::Comparison;

/// How deep parentheses and `not` may nest: whatever walks the tree needs no more stack than this.
const DEEPEST: usize = 100;

/// Words that name no column unless they are quoted.
const KEYWORDS: [&str; 6] = ["and", "or", "not", "in", "between", "null"];

/// What makes a constant of a string.
type MakeLiteral = fn(Vec<u8>) -> Literal;

/// What makes a string a date or a time.
const TYPED: [(&str, MakeLiteral); 3] =
    [("date", Literal::Date), ("timestamp", Literal::Timestamp), ("time", Literal::Time)];

/// What makes one condition of several.
type Combine = fn(Vec<Node>) -> Node;

/// The binary operators, the one that binds least first.
const OPERATORS: [(&str, Combine); 2] = [("or", Node::Or), ("and", Node::And)];

pub(super) fn parse(source: &str) -> Result<Node, SyntaxError> {
    let mut parser = Parser { source, cursor: Cursor::new(source)?, depth: 0 };
    let node = parser.operation(0)?;
    match parser.cursor.peek().kind {
        Kind::End => Ok(node),
        Kind::Close => Err(parser.cursor.error("')' without '('")),
        _ => Err(parser.cursor.expected("'and', 'or' or the end")),
    }
}

struct Parser<'a> {
    source: &'a str,
    cursor: Cursor<'a>,
    depth: usize,
}

enum Operand {
    Column(Column),
    Constant(Constant),
}

impl Parser<'_> {
    /// An operation whose operator binds at least as tightly as that of `OPERATORS[strength]`.
    fn operation(&mut self, strength: usize) -> Result<Node, SyntaxError> {
        let Some((word, combine)) = OPERATORS.get(strength) else { return self.unary() };
        let mut operands = vec![self.operation(strength + 1)?];
        while self.cursor.take_word(word) {
            operands.push(self.operation(strength + 1)?);
        }
        Ok(if operands.len() == 1 { operands.remove(0) } else { combine(operands) })
    }

    fn unary(&mut self) -> Result<Node, SyntaxError> {
        if self.cursor.take_word("not") {
            let operand = self.nested(Self::unary)?;
            return Ok(Node::Not(Box::new(operand)));
        }
        if self.cursor.take(&Kind::Open) {
            let inner = self.nested(|parser| parser.operation(0))?;
            self.cursor.require(&Kind::Close, "'and', 'or' or ')'")?;
            return Ok(inner);
        }
        self.comparison()
    }

    fn nested(&mut self, parse: impl Fn(&mut Self) -> Result<Node, SyntaxError>) -> Result<Node, SyntaxError> {
        if self.depth == DEEPEST {
            return Err(self.cursor.error(format!("nested deeper than {DEEPEST} levels")));
        }
        self.depth += 1;
        let node = parse(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn comparison(&mut self) -> Result<Node, SyntaxError> {
        let left = self.operand("a condition")?;
        let left = match left {
            Operand::Column(column) if self.cursor.take_word("is") => return self.is_null(column),
            left => left,
        };
        let negated = matches!(left, Operand::Column(_)) && self.cursor.take_word("not");
        let node = match left {
            Operand::Column(column) if self.cursor.take_word("in") => self.list(&column)?,
            Operand::Column(column) if self.cursor.take_word("between") => self.between(column)?,
            _ if negated => return Err(self.cursor.expected("'in' or 'between'")),
            left => return self.compare(left),
        };
        Ok(if negated { Node::Not(Box::new(node)) } else { node })
    }

    /// The rest of `column is [not] null`.
    fn is_null(&mut self, column: Column) -> Result<Node, SyntaxError> {
        let negated = self.cursor.take_word("not");
        if !self.cursor.take_word("null") {
            return Err(self.cursor.expected(if negated { "'null'" } else { "'null' or 'not null'" }));
        }
        let node = Node::IsNull { column };
        Ok(if negated { Node::Not(Box::new(node)) } else { node })
    }

    /// The rest of a comparison of which `left` was read.
    fn compare(&mut self, left: Operand) -> Result<Node, SyntaxError> {
        let operator = self.cursor.peek().clone();
        let Kind::Comparison(comparison) = operator.kind else {
            return Err(self.cursor.expected("a comparison (= != < <= > >=), 'in', 'between' or 'is'"));
        };
        self.cursor.advance();
        let right = self.operand("a column or a constant")?;
        let refused = |what| Err(SyntaxError::new(what, operator.position, self.source));
        match (left, right) {
            (Operand::Column(column), Operand::Constant(constant)) => {
                Ok(Node::Compare { column, comparison, constant })
            }
            (Operand::Constant(constant), Operand::Column(column)) => {
                Ok(Node::Compare { column, comparison: mirrored(comparison), constant })
            }
            (Operand::Column(_), Operand::Column(_)) => {
                refused("a column is compared with a column; write strings in single quotes")
            }
            (Operand::Constant(_), Operand::Constant(_)) => refused("a constant is compared with a constant"),
        }
    }

    fn list(&mut self, column: &Column) -> Result<Node, SyntaxError> {
        self.cursor.require(&Kind::Open, "'('")?;
        let mut equal = Vec::new();
        loop {
            let (column, comparison) = (column.clone(), Comparison::Equal);
            equal.push(Node::Compare { column, comparison, constant: self.constant()? });
            if !self.cursor.take(&Kind::Comma) {
                self.cursor.require(&Kind::Close, "',' or ')'")?;
                return Ok(Node::Or(equal));
            }
        }
    }

    fn between(&mut self, column: Column) -> Result<Node, SyntaxError> {
        let low = self.constant()?;
        if !self.cursor.take_word("and") {
            return Err(self.cursor.expected("'and'"));
        }
        let high = self.constant()?;
        Ok(Node::And(vec![
            Node::Compare { column: column.clone(), comparison: Comparison::GreaterOrEqual, constant: low },
            Node::Compare { column, comparison: Comparison::LessOrEqual, constant: high },
        ]))
    }

    fn constant(&mut self) -> Result<Constant, SyntaxError> {
        match self.operand("a constant")? {
            Operand::Constant(constant) => Ok(constant),
            Operand::Column(Column { name, position }) => {
                let message = format!("expected a constant, found '{name}'; write strings in single quotes");
                Err(SyntaxError::new(message, position, self.source))
            }
        }
    }

    fn operand(&mut self, what: &str) -> Result<Operand, SyntaxError> {
        let Token { kind, position } = self.cursor.peek().clone();
        if let (Some(literal), Kind::Text(text)) = (typed(&kind), self.cursor.second().kind.clone()) {
            self.cursor.advance();
            self.cursor.advance();
            return Ok(Operand::Constant(Constant { value: literal(text.into_bytes()), position }));
        }
        let operand = match kind {
            Kind::Word(word) if word.eq_ignore_ascii_case("null") => {
                return Err(self.cursor.error("nothing is equal to null; write 'is null' or 'is not null'"));
            }
            Kind::Word(word) if word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false") => {
                let value = Literal::Bool(word.eq_ignore_ascii_case("true"));
                Operand::Constant(Constant { value, position })
            }
            Kind::Word(word) if KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword)) => {
                return Err(self.cursor.expected(&format!("{what}; write a column of that name in double quotes")));
            }
            Kind::Word(name) | Kind::Name(name) => Operand::Column(Column { name, position }),
            Kind::Text(text) => Operand::Constant(Constant { value: Literal::Text(text.into_bytes()), position }),
            Kind::Number(text) => Operand::Constant(Constant { value: Literal::Number(Number::new(&text)), position }),
            _ => return Err(self.cursor.expected(what)),
        };
        self.cursor.advance();
        Ok(operand)
    }
}

/// What a word makes of the string behind it, if it is one of those that make a date or a time.
fn typed(kind: &Kind) -> Option<MakeLiteral> {
    let Kind::Word(word) = kind else { return None };
    TYPED.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, literal)| *literal)
}

/// The comparison that says the same with its sides swapped.
fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        Comparison::Equal | Comparison::NotEqual => comparison,
    }
}
