use super::*;
use crate::cpu::Level;
use proptest::prelude::*;

/// The structure of a text according to an independent reader: row by row, field by field, with lookahead.
#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    /// Offset, row end, quoted.
    ends: Vec<(usize, bool, bool)>,
    malformed: Vec<usize>,
    /// The state at the end of the text.
    open: Option<State>,
}

struct Oracle<'a> {
    syntax: &'a Syntax,
    text: &'a [u8],
    at: usize,
    read: Read,
}

impl Oracle<'_> {
    fn read(syntax: &Syntax, text: &[u8]) -> Read {
        let mut oracle = Oracle { syntax, text, at: 0, read: Read::default() };
        let state = loop {
            if oracle.peek().is_none() {
                break State::RowStart;
            }
            if syntax.is_comment(&text[oracle.at..]) {
                match oracle.find_line_end() {
                    Some(end) => oracle.end(end, true, false),
                    None => break State::Comment,
                }
            } else if syntax.has_doubled_comment() && syntax.comment().is_some_and(|it| text[oracle.at..] == [it]) {
                break State::HalfComment;
            } else if let Some(state) = oracle.row() {
                break state;
            }
        };
        oracle.read.open = Some(state);
        oracle.read
    }

    fn is_delimiter(&self, byte: u8) -> bool {
        byte == self.syntax.delimiter() || self.syntax.has_blanks() && byte == b'\t'
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn line_end(&self) -> u8 {
        self.syntax.line_end().byte()
    }

    fn find_line_end(&self) -> Option<usize> {
        (self.at..self.text.len()).find(|&at| self.text[at] == self.line_end())
    }

    fn end(&mut self, at: usize, row: bool, quoted: bool) {
        self.read.ends.push((at, row, quoted));
        self.at = at + 1;
    }

    /// The state at the end of the text, if it ends within the row.
    fn row(&mut self) -> Option<State> {
        let mut first = true;
        loop {
            let blanks = self.blanks();
            let after_blanks = self.text.get(self.at + blanks).copied();
            if blanks > 0 && after_blanks.is_none() {
                return Some(State::Padding);
            }
            let quote = self.syntax.quote().filter(|&quote| after_blanks == Some(quote));
            self.at += if quote.is_some() { blanks } else { 0 };
            let ended = match (self.peek(), quote) {
                (Some(b'['), _) if self.syntax.has_brackets() => self.bracketed(),
                (None, _) => return Some(if first { State::RowStart } else { State::FieldStart }),
                (_, Some(quote)) => self.quoted(quote)?,
                (_, None) => self.unquoted(),
            };
            match ended {
                Ok(true) => return None,
                Ok(false) => first = false,
                Err(state) => return Some(state),
            }
        }
    }

    /// The number of blanks at the current position that may surround quotes.
    fn blanks(&self) -> usize {
        let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t') && !self.is_delimiter(**byte);
        if self.syntax.has_padding() { self.text[self.at..].iter().take_while(is_blank).count() } else { 0 }
    }

    fn bracketed(&mut self) -> Result<bool, State> {
        let line_end = self.find_line_end();
        let line = self.at..line_end.unwrap_or(self.text.len());
        // A CR at the end is data, unless a line feed follows.
        let is_closed =
            |at: &usize| self.text[*at] == b']' && at + 1 < line.end && self.is_delimiter(self.text[at + 1]);
        match (line.clone().find(is_closed), line_end) {
            (Some(at), _) => {
                self.end(at + 1, false, true);
                Ok(false)
            }
            (None, Some(end)) => {
                self.end(end, true, true);
                Ok(true)
            }
            (None, None) => Err(if self.text[line].ends_with(b"]") { State::AfterBracket } else { State::Bracketed }),
        }
    }

    fn unquoted(&mut self) -> Result<bool, State> {
        let mut escaped = false;
        while let Some(byte) = self.peek() {
            if Some(byte) == self.syntax.escape() {
                escaped = true;
                self.at += 2;
                if self.at > self.text.len() {
                    return Err(State::UnquotedEscape);
                }
            } else if self.is_delimiter(byte) || byte == self.line_end() {
                let row = byte == self.line_end();
                self.end(self.at, row, escaped);
                return Ok(row);
            } else {
                self.at += 1;
            }
        }
        Err(if escaped { State::UnquotedEscaped } else { State::Unquoted })
    }

    /// `None` for a malformed row whose rest has been skipped.
    fn quoted(&mut self, quote: u8) -> Option<Result<bool, State>> {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            if Some(byte) == self.syntax.escape() {
                if self.peek().is_none() {
                    return Some(Err(State::QuotedEscape));
                }
                self.at += 1;
            } else if byte == quote {
                if self.peek() == Some(quote) {
                    self.at += 1;
                    continue;
                }
                return self.after_quote();
            }
        }
        Some(Err(State::Quoted))
    }

    fn after_quote(&mut self) -> Option<Result<bool, State>> {
        let blanks = self.blanks();
        self.at += blanks;
        let rest = &self.text[self.at..];
        let crlf = self.syntax.line_end() == LineEnd::Lf && rest.first() == Some(&b'\r');
        let bad = match rest {
            [] if blanks > 0 => return Some(Err(State::AfterQuotePadding)),
            [] => return Some(Err(State::AfterQuote)),
            [_] if crlf => return Some(Err(State::AfterQuoteReturn)),
            [_, b'\n', ..] if crlf => {
                self.end(self.at + 1, true, true);
                return Some(Ok(true));
            }
            [byte, ..] if self.is_delimiter(*byte) || *byte == self.line_end() => {
                let row = *byte == self.line_end();
                self.end(self.at, row, true);
                return Some(Ok(row));
            }
            _ if crlf => self.at + 1,
            _ => self.at,
        };
        self.read.malformed.push(bad);
        self.at = bad;
        match self.find_line_end() {
            None => Some(Err(State::Skip)),
            Some(end) => {
                self.at = end + 1;
                Some(Ok(true))
            }
        }
    }
}

/// Scans the text in windows that end at `cuts`.
fn scan_all(level: Level, syntax: &Syntax, text: &[u8], cuts: &[usize]) -> (Read, Cursor) {
    let mut cursor = Cursor::START;
    let (mut ends, mut malformed) = (Vec::new(), Vec::new());
    for &to in cuts.iter().chain([&text.len()]) {
        while let Err(Malformed { at }) = scan(level, syntax, text, &mut cursor, to, &mut ends) {
            malformed.push(at);
        }
        assert_eq!(cursor.at, to);
    }
    let ends = ends.iter().map(|end| (end.offset(), end.is_row_end(), end.is_quoted())).collect();
    (Read { ends, malformed, open: Some(cursor.state) }, cursor)
}

fn check(syntax: &Syntax, text: &[u8], cuts: &[usize]) {
    let expected = Oracle::read(syntax, text);
    for level in Level::available() {
        let (read, cursor) = scan_all(level, syntax, text, cuts);
        assert_eq!(read, expected, "{level:?} {}", text.escape_ascii());
        assert_eq!(cursor.rows, expected.ends.iter().filter(|end| end.1).count());
        assert_eq!(cursor.lines as usize, text.iter().filter(|&&byte| byte == syntax.line_end().byte()).count());
    }
}

/// Chains the transitions of the chunks between `cuts`, and compares each of them with the automaton.
fn check_transitions(syntax: &Syntax, text: &[u8], cuts: &[usize]) {
    let whole = Oracle::read(syntax, text).open.unwrap();
    for level in Level::available() {
        let (mut at, mut state) = (0, State::RowStart);
        for &cut in cuts.iter().chain([&text.len()]) {
            let chunk = &text[at..cut];
            let transition = Transition::new(level, syntax, chunk);
            let by_tails = [0, 1, 7, 60].map(|tail| Transition::by_tail(level, syntax, chunk, tail));
            for start in State::ALL.into_iter().filter(|&start| reachable(syntax, start)) {
                let (mut state, mut rows) = (start, None);
                for (&byte, length) in chunk.iter().zip(1..) {
                    state = state.next(syntax.class(byte));
                    if state == State::RowStart {
                        rows = Some(length);
                    }
                }
                for transition in by_tails.iter().chain([&transition]) {
                    let got = (transition.state(start), transition.rows(start));
                    assert_eq!(got, (state, rows), "{level:?} {start:?} {}", chunk.escape_ascii());
                }
            }
            (at, state) = (cut, transition.state(state));
        }
        assert_eq!(state, whole);
    }
}

/// Whether some text leads to this state.
fn reachable(syntax: &Syntax, state: State) -> bool {
    match state {
        State::HalfComment => syntax.has_doubled_comment(),
        State::Comment => syntax.comment().is_some(),
        State::UnquotedEscape | State::UnquotedEscaped => syntax.escape().is_some(),
        State::QuotedEscape => syntax.escape().is_some() && syntax.quote().is_some(),
        State::Quoted | State::AfterQuote | State::AfterQuoteReturn => syntax.quote().is_some(),
        State::Padding => syntax.has_padding(),
        State::AfterQuotePadding => syntax.has_padding() && syntax.quote().is_some(),
        State::Bracketed | State::AfterBracket => syntax.has_brackets(),
        State::RowStart | State::FieldStart | State::Unquoted | State::Skip => true,
    }
}

fn syntaxes() -> impl Strategy<Value = Syntax> {
    let delimiter = prop_oneof![Just(b','), Just(b';'), Just(b'\t'), Just(0), Just(0xff)];
    let quote = prop_oneof![4 => Just(Some(b'"')), 1 => Just(Some(b'\'')), 1 => Just(None)];
    let escape = prop_oneof![4 => Just(None), 1 => Just(Some(b'\\'))];
    let comment = prop_oneof![3 => Just(None), 1 => Just(Some((b'#', false))), 1 => Just(Some((b'#', true)))];
    let blanks = prop_oneof![4 => Just(false), 1 => Just(true)];
    let line_end = prop_oneof![4 => Just(LineEnd::Lf), 1 => Just(LineEnd::Cr)];
    let [brackets, padding] = [(); 2].map(|()| prop_oneof![4 => Just(false), 1 => Just(true)]);
    (delimiter, blanks, quote, escape, comment, line_end, brackets, padding).prop_map(
        |(delimiter, blanks, quote, escape, comment, line_end, brackets, padding)| {
            let mut syntax = if blanks { Syntax::blanks(line_end) } else { Syntax::new(delimiter, line_end) }.unwrap();
            if let Some(quote) = quote {
                syntax = syntax.with_quote(quote).unwrap();
            }
            if let Some(escape) = escape {
                syntax = syntax.with_escape(escape).unwrap();
            }
            syntax = match comment {
                Some((comment, true)) => syntax.with_doubled_comment(comment).unwrap(),
                Some((comment, false)) => syntax.with_comment(comment).unwrap(),
                None => syntax,
            };
            syntax = if brackets { syntax.with_brackets().unwrap() } else { syntax };
            if padding { syntax.with_padding() } else { syntax }
        },
    )
}

/// Random bytes, most of which have a meaning.
fn noise(syntax: &Syntax, length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> + use<> {
    let quote = syntax.quote().unwrap_or(b'"');
    let escape = syntax.escape().unwrap_or(b'\\');
    let byte = prop_oneof![
        6 => Just(b'a'), 3 => Just(syntax.delimiter()), 3 => Just(quote), 2 => Just(b'\n'), 1 => Just(b'\r'),
        1 => Just(escape), 2 => Just(b' '), 1 => Just(b'#'), 1 => Just(b'['), 1 => Just(b']'), 1 => any::<u8>(),
    ];
    prop::collection::vec(byte, length)
}

/// Well-formed text, including quoted fields with arbitrary contents, with a few bytes changed.
fn tables(syntax: &Syntax) -> impl Strategy<Value = Vec<u8>> + use<> {
    let (delimiter, quote, line_end) = (syntax.delimiter(), syntax.quote().unwrap_or(b'"'), syntax.line_end());
    let quoted = noise(syntax, 0..100).prop_map(move |bytes| {
        let doubled = bytes.into_iter().flat_map(|byte| std::iter::repeat_n(byte, 1 + usize::from(byte == quote)));
        std::iter::once(quote).chain(doubled).chain([quote]).collect::<Vec<u8>>()
    });
    let quoted = quoted.boxed();
    let plain = prop::collection::vec(b'a'..=b'z', 0..20);
    let blanks = || "[ \t]{0,3}".prop_map(String::into_bytes);
    let padded =
        (blanks(), quoted.clone(), blanks()).prop_map(|(before, field, after)| [before, field, after].concat());
    let field = prop_oneof![4 => plain, 2 => quoted, 1 => padded];
    let end = prop_oneof![4 => Just(vec![delimiter]), 1 => Just(vec![line_end.byte()]), 1 => Just(b"\r\n".to_vec())];
    let change = (any::<prop::sample::Index>(), noise(syntax, 1..2));
    (prop::collection::vec((field, end), 1..60), prop::collection::vec(change, 0..3)).prop_map(|(fields, changes)| {
        let mut text: Vec<u8> = fields.into_iter().flat_map(|(field, end)| [field, end].concat()).collect();
        for (place, byte) in changes {
            let place = place.index(text.len());
            text[place] = byte[0];
        }
        text
    })
}

fn texts() -> impl Strategy<Value = (Syntax, Vec<u8>, Vec<usize>)> {
    let text =
        |syntax: Syntax| prop_oneof![noise(&syntax, 0..300), tables(&syntax)].prop_map(move |t| (syntax.clone(), t));
    (syntaxes().prop_flat_map(text), prop::collection::vec(any::<prop::sample::Index>(), 0..4)).prop_map(
        |((syntax, text), cuts)| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.sort_unstable();
            (syntax, text, cuts)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_level_agrees_with_the_reference_reader((syntax, text, cuts) in texts()) {
        check(&syntax, &text, &cuts);
    }

    #[test]
    fn chained_transitions_agree_with_the_reference_reader((syntax, text, cuts) in texts()) {
        check_transitions(&syntax, &text, &cuts);
    }
}

fn csv() -> Syntax {
    Syntax::new(b',', LineEnd::Lf).unwrap().with_quote(b'"').unwrap()
}

/// Each special fragment at each position within a block, so that it crosses block borders in every way.
#[test]
fn fragments_may_cross_block_borders() {
    let pieces: [&[u8]; 17] = [
        b",\"\",",
        b",\"a\"\r\n",
        b"\"\"\"\"\n",
        b",5\" pipe\n",
        b"\n\"a\nb\",",
        b",\"a\"b\nc,",
        b",\"a\"\rb\n",
        b"\r\n\r\n",
        b"\n#\"\n",
        b",\"a\"\r\"b\n",
        b"\"",
        b"\n\"a,\"\"\"\n",
        b"\\\"",
        b",,,,\n\n,,",
        b",[a,\"b]c],d\n",
        b"\n[]\r\n[a,b\n",
        b"\n##\"\n#,\"a\n\"\n",
    ];
    let comments = csv().with_comment(b'#').unwrap();
    let doubled = csv().with_doubled_comment(b'#').unwrap();
    let brackets = csv().with_brackets().unwrap();
    for piece in pieces {
        for before in 0..BLOCKS {
            for after in [0, 1, 63, 64, 130] {
                let text = [&vec![b'x'; before], piece, &vec![b'y'; after]].concat();
                for syntax in [&csv(), &comments, &doubled, &brackets] {
                    check(syntax, &text, &[]);
                    check_transitions(syntax, &text, &[]);
                }
            }
        }
    }
}

const BLOCKS: usize = 130;

#[test]
fn a_block_may_be_full_of_ends() {
    for byte in *b",\n" {
        check(&csv(), &[byte; 300], &[]);
    }
    check(&csv(), &b"\"\",".repeat(100), &[]);
    check(&csv(), &b"\"\"".repeat(100), &[]);
}

#[test]
fn ends_are_appended() {
    let mut ends = vec![FieldEnd::new(7, true, false)];
    let mut cursor = Cursor::START;
    scan(Level::best(), &csv(), b"a,\"b\"\n", &mut cursor, 6, &mut ends).unwrap();
    assert_eq!(format!("{ends:?}"), "[7 row, 1, 5 row quoted]");
    assert_eq!(cursor, Cursor { at: 6, state: State::RowStart, rows: 1, lines: 1 });
}

#[test]
fn a_byte_has_one_meaning() {
    assert_eq!(Syntax::new(b'\n', LineEnd::Cr), Err(SyntaxError { byte: b'\n' }));
    assert_eq!(csv().with_quote(b','), Err(SyntaxError { byte: b',' }));
    assert_eq!(csv().with_escape(b'"').unwrap_err().to_string(), "'\\\"' has two meanings");
    assert_eq!(csv().with_comment(b'\r'), Err(SyntaxError { byte: b'\r' }));
}

#[test]
fn states_are_numbered_as_they_are_listed() {
    for (state, number) in State::ALL.into_iter().zip(0..) {
        assert_eq!(state as usize, number);
    }
}
