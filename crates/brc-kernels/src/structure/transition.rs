//! What a chunk of text does to any state before it, found without knowing what stands before it.
//!
//! Two states are enough nearly everywhere: behind a line end, a byte starts a row or stands in quotes. Both are
//! followed at once by the same masks, as what is inside quotes from the one is outside from the other. In text with
//! quotes the wrong one soon finds something behind a closing quote, skips to the end of that line, and has become
//! the right one.
//!
//! So the last rows of a chunk mostly tell what all of it leads to. Where they do not, the rows before them have no quotes
//! as a rule, which is found by looking for nothing else.

use super::blocks::{BLOCK, Carry, Needles};
use super::{State, Syntax};
use crate::cpu::Level;
use crate::isa::{Isa, Work, run_with};

/// What a chunk of text leads to, by the state before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// By start state.
    ends: [End; State::COUNT],
}

/// Where a chunk leads from one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    state: State,
    /// The length of the chunk up to and with its last end of a row.
    rows: Option<usize>,
}

/// So many bytes at the end of a chunk are gone through first.
const TAIL: usize = 8 << 10;

impl Transition {
    /// The transition of a chunk, in one pass over it at most.
    #[must_use]
    pub fn new(level: Level, syntax: &Syntax, chunk: &[u8]) -> Self {
        Self::by_tail(level, syntax, chunk, TAIL)
    }

    /// The same, where about `tail` bytes at the end, which start behind a line end, are gone through first.
    pub(super) fn by_tail(level: Level, syntax: &Syntax, chunk: &[u8], tail: usize) -> Self {
        let near = chunk.len().saturating_sub(tail);
        let first = near.saturating_sub(tail);
        let line_end = chunk[first..near].iter().rposition(|&byte| byte == syntax.line_end().byte());
        let (head, tail) = chunk.split_at(line_end.map_or(0, |place| first + place + 1));
        let of_tail = Self::of_all(level, syntax, tail);
        if head.is_empty() {
            of_tail
        } else if of_tail.is_constant() || (syntax.escape().is_none() && !has_quote(level, syntax, head)) {
            Self::of_lines(head.len()).then(&of_tail, head.len())
        } else {
            Self::of_all(level, syntax, head).then(&of_tail, head.len())
        }
    }

    /// That of whole lines of so many bytes, where no quote or escape is: they end rows, but for those that start in quotes.
    fn of_lines(length: usize) -> Self {
        let of = |start| match start {
            State::Quoted => End { state: State::Quoted, rows: None },
            _ => End { state: State::RowStart, rows: Some(length) },
        };
        Self { ends: State::ALL.map(of) }
    }

    /// Whether the chunk leads to the same from all states.
    fn is_constant(&self) -> bool {
        self.ends.iter().all(|end| end.rows.is_some() && *end == self.ends[0])
    }

    /// That of both chunks, this one of so many bytes before the next.
    fn then(&self, next: &Self, length: usize) -> Self {
        let both = |end: End| {
            let behind = next.ends[end.state as usize];
            End { state: behind.state, rows: behind.rows.map(|rows| length + rows).or(end.rows) }
        };
        Self { ends: self.ends.map(both) }
    }

    /// The transition of a chunk of which nothing is known.
    fn of_all(level: Level, syntax: &Syntax, chunk: &[u8]) -> Self {
        let mut lanes = Lanes::new(syntax);
        let mut at = 0;
        while at < chunk.len() {
            if syntax.has_masks() {
                at = lanes.follow_blocks(level, syntax, chunk, at);
            }
            at = lanes.follow_line(syntax, chunk, at);
        }
        lanes.finish()
    }

    /// The state behind the chunk.
    #[must_use]
    pub fn state(&self, start: State) -> State {
        self.ends[start as usize].state
    }

    /// How many bytes of the chunk belong to rows that end in it, malformed rows and comment lines included; nothing if
    /// no row ends in it.
    #[must_use]
    pub fn rows(&self, start: State) -> Option<usize> {
        self.ends[start as usize].rows
    }
}

fn has_quote(level: Level, syntax: &Syntax, text: &[u8]) -> bool {
    let Some(quote) = syntax.quote() else { return false };
    let (mut found, (blocks, rest)) = (false, text.as_chunks());
    run_with(level, FindQuote { needles: Needles::new(syntax), blocks, found: &mut found });
    found || rest.contains(&quote)
}

/// Looks for a quote.
struct FindQuote<'a> {
    needles: Needles,
    blocks: &'a [[u8; BLOCK]],
    found: &'a mut bool,
}

impl Work for FindQuote<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<B: Isa>(self) {
        /// Blocks between two looks at what was found.
        const BLOCKS: usize = 16;
        for blocks in self.blocks.chunks(BLOCKS) {
            let mut quotes = 0;
            for block in blocks {
                // SAFETY: the caller promises the instructions.
                quotes |= unsafe { B::masks(&self.needles, block) }.quotes;
            }
            if quotes != 0 {
                *self.found = true;
                return;
            }
        }
    }
}

/// All states that the chunk may have started from.
struct Lanes {
    /// What has become of each of them; those that have become the same are one.
    lanes: Vec<End>,
    /// For each start state its lane, and what its last end of a row was before it shared that.
    starts: [(usize, Option<usize>); State::COUNT],
}

impl Lanes {
    fn new(syntax: &Syntax) -> Self {
        use State::*;
        let mut new = Self { lanes: Vec::with_capacity(State::COUNT), starts: [(0, None); State::COUNT] };
        for state in State::ALL {
            let possible = match state {
                RowStart | FieldStart | Unquoted | Skip => true,
                Quoted | AfterQuote | AfterQuoteReturn => syntax.quote().is_some(),
                UnquotedEscape | UnquotedEscaped => syntax.escape().is_some(),
                QuotedEscape => syntax.escape().is_some() && syntax.quote().is_some(),
                Bracketed | AfterBracket => syntax.has_brackets(),
                HalfComment => syntax.has_doubled_comment(),
                Comment => syntax.comment().is_some(),
            };
            if possible {
                new.starts[state as usize].0 = new.lanes.len();
                new.lanes.push(End { state, rows: None });
            }
        }
        new
    }

    /// Makes one of lanes that have become the same.
    fn merge(&mut self) {
        let mut kept: Vec<End> = Vec::with_capacity(self.lanes.len());
        let mut places = [0; State::COUNT];
        for (lane, place) in self.lanes.iter().zip(&mut places) {
            *place = kept.iter().position(|other| other.state == lane.state).unwrap_or(kept.len());
            if *place == kept.len() {
                kept.push(End { state: lane.state, rows: None });
            }
        }
        for (lane, rows) in &mut self.starts {
            *rows = self.lanes[*lane].rows.or(*rows);
            *lane = places[*lane];
        }
        self.lanes = kept;
    }

    /// Goes through the next line end, byte by byte.
    fn follow_line(&mut self, syntax: &Syntax, chunk: &[u8], mut at: usize) -> usize {
        let line_end = syntax.line_end().byte();
        loop {
            let rest = &chunk[at..chunk.len().min(at + BLOCK)];
            let found = rest.iter().position(|&byte| byte == line_end);
            let rest = &rest[..found.map_or(rest.len(), |place| place + 1)];
            at += rest.len();
            for lane in &mut self.lanes {
                lane.state = rest.iter().fold(lane.state, |state, &byte| state.next(syntax.class(byte)));
                if found.is_some() && lane.state == State::RowStart {
                    lane.rows = Some(at);
                }
            }
            if self.lanes.len() > 1 {
                self.merge();
            }
            if found.is_some() || at == chunk.len() {
                return at;
            }
        }
    }

    /// Goes through whole blocks, up to one that masks are not enough for in one of the lanes.
    fn follow_blocks(&mut self, level: Level, syntax: &Syntax, chunk: &[u8], mut at: usize) -> usize {
        let end = &mut at;
        match (self.lanes.as_mut_slice(), syntax.quote().is_some()) {
            ([one], true) => run_with(level, FollowBlocks::<1, true> { syntax, chunk, at: end, lanes: [one] }),
            ([one], false) => run_with(level, FollowBlocks::<1, false> { syntax, chunk, at: end, lanes: [one] }),
            ([one, two], true) => {
                run_with(level, FollowBlocks::<2, true> { syntax, chunk, at: end, lanes: [one, two] });
            }
            // More are followed byte by byte to the next line end, and so are any two without quotes: they become one.
            _ => {}
        }
        at
    }

    fn finish(mut self) -> Transition {
        self.merge();
        Transition { ends: self.starts.map(|(lane, rows)| End { state: self.lanes[lane].state, rows }) }
    }
}

struct FollowBlocks<'a, const LANES: usize, const QUOTES: bool> {
    syntax: &'a Syntax,
    chunk: &'a [u8],
    at: &'a mut usize,
    lanes: [&'a mut End; LANES],
}

impl<const LANES: usize, const QUOTES: bool> Work for FollowBlocks<'_, LANES, QUOTES> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<B: Isa>(self) {
        let mut carries = [const { None }; LANES];
        for (carry, lane) in carries.iter_mut().zip(&self.lanes) {
            *carry = Carry::new(lane.state);
        }
        if carries.iter().any(Option::is_none) {
            return;
        }
        let mut carries = carries.map(|carry| carry.unwrap_or_else(|| unreachable!("all are there")));
        let needles = Needles::new(self.syntax);
        let (blocks, _) = self.chunk[*self.at..].as_chunks::<BLOCK>();
        // The last end of a row: the block, counted from 1, and the ends in it.
        let mut last = [(0, 0); LANES];
        let mut done = 0;
        'blocks: for block in blocks {
            // SAFETY: the caller promises the instructions.
            let masks = unsafe { B::masks(&needles, block) };
            // SAFETY: likewise.
            let parity = if QUOTES { unsafe { B::prefix_xor(masks.quotes) } } else { 0 };
            let mut next = carries;
            let mut rows = [0; LANES];
            for lane in 0..LANES {
                let Some(found) = next[lane].step::<QUOTES>(&masks, parity) else { break 'blocks };
                rows[lane] = found.rows;
            }
            carries = next;
            done += 1;
            for lane in 0..LANES {
                last[lane] = if rows[lane] != 0 { (done, rows[lane]) } else { last[lane] };
            }
        }
        for ((lane, carry), (block, rows)) in self.lanes.into_iter().zip(carries).zip(last) {
            lane.state = carry.state();
            if block > 0 {
                lane.rows = Some(*self.at + (block - 1) * BLOCK + 64 - rows.leading_zeros() as usize);
            }
        }
        *self.at += done * BLOCK;
    }
}
