//! The effect of a chunk of text on any state before it, computed without knowing the preceding text.
//!
//! Two states suffice nearly everywhere: after a line end, a byte starts a row or is quoted. Both are tracked with the
//! same masks, since what is quoted in one case is unquoted in the other. In text with quotes the wrong assumption soon
//! yields a byte after a closing quote that is not permitted there, skips to the end of that line, and has converged to
//! the right state.
//!
//! The last rows of a chunk therefore usually determine its result. Otherwise the rows before them usually contain no
//! quotes, which is checked by searching for quotes only.

use super::blocks::{BLOCK, Carry, Masks, Needles};
use super::{State, Syntax};
use crate::cpu::Level;
use crate::isa::{Isa, Work, run_with};

/// The result of a chunk of text for each state before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// Indexed by start state.
    ends: [End; State::COUNT],
}

/// The result of a chunk for one start state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    state: State,
    /// The length of the chunk up to and including its last row end.
    rows: Option<usize>,
}

/// The number of bytes at the end of a chunk that are scanned first.
const TAIL: usize = 8 << 10;

impl Transition {
    /// The transition of a chunk, computed in at most one pass over it.
    #[must_use]
    pub fn new(level: Level, syntax: &Syntax, chunk: &[u8]) -> Self {
        Self::by_tail(level, syntax, chunk, TAIL)
    }

    /// The same, scanning first about `tail` bytes at the end of the chunk, from a line start on.
    pub(super) fn by_tail(level: Level, syntax: &Syntax, chunk: &[u8], tail: usize) -> Self {
        let near = chunk.len().saturating_sub(tail);
        let first = near.saturating_sub(tail);
        let line_end = chunk[first..near].iter().rposition(|&byte| byte == syntax.line_end().byte());
        let (head, tail) = chunk.split_at(line_end.map_or(0, |index| first + index + 1));
        let of_tail = Self::of_all(level, syntax, tail);
        if head.is_empty() {
            of_tail
        } else if of_tail.is_constant() || (syntax.escape().is_none() && !has_quote(level, syntax, head)) {
            Self::of_lines(head.len()).then(&of_tail, head.len())
        } else {
            Self::of_all(level, syntax, head).then(&of_tail, head.len())
        }
    }

    /// The transition of whole lines of `length` bytes without quotes or escapes: they end rows, except when they start
    /// inside quotes.
    fn of_lines(length: usize) -> Self {
        let of = |start| match start {
            State::Quoted => End { state: State::Quoted, rows: None },
            _ => End { state: State::RowStart, rows: Some(length) },
        };
        Self { ends: State::ALL.map(of) }
    }

    /// Whether the result is the same for all start states.
    fn is_constant(&self) -> bool {
        self.ends.iter().all(|end| end.rows.is_some() && *end == self.ends[0])
    }

    /// The transition of this chunk, of `length` bytes, followed by the next.
    fn then(&self, next: &Self, length: usize) -> Self {
        let both = |end: End| {
            let after = next.ends[end.state as usize];
            End { state: after.state, rows: after.rows.map(|rows| length + rows).or(end.rows) }
        };
        Self { ends: self.ends.map(both) }
    }

    /// The transition of an arbitrary chunk.
    fn of_all(level: Level, syntax: &Syntax, chunk: &[u8]) -> Self {
        let mut tracks = Tracks::new(syntax);
        let mut at = 0;
        while at < chunk.len() {
            if syntax.has_masks() {
                at = tracks.follow_blocks(level, syntax, chunk, at);
            }
            at = tracks.follow_line(syntax, chunk, at);
        }
        tracks.finish()
    }

    /// The state after the chunk.
    #[must_use]
    pub fn state(&self, start: State) -> State {
        self.ends[start as usize].state
    }

    /// The number of bytes of the chunk that belong to rows that end in it, including malformed rows and comment lines;
    /// `None` if no row ends in it.
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

/// Searches for a quote.
struct FindQuote<'a> {
    needles: Needles,
    blocks: &'a [[u8; BLOCK]],
    found: &'a mut bool,
}

impl Work for FindQuote<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<B: Isa>(self) {
        /// The number of blocks between checks of the result.
        const BLOCKS: usize = 16;
        for blocks in self.blocks.chunks(BLOCKS) {
            let mut quotes = 0;
            for block in blocks {
                // SAFETY: the caller promises the instructions.
                quotes |= unsafe { B::positions(block, self.needles.quote) };
            }
            if quotes != 0 {
                *self.found = true;
                return;
            }
        }
    }
}

/// Tracks all possible start states of a chunk.
struct Tracks {
    /// The current state of each distinct track; tracks that have converged are merged.
    tracks: Vec<End>,
    /// For each start state, the index of its track, and the last row end before the track was merged into another one.
    starts: [(usize, Option<usize>); State::COUNT],
}

impl Tracks {
    fn new(syntax: &Syntax) -> Self {
        use State::*;
        let mut new = Self { tracks: Vec::with_capacity(State::COUNT), starts: [(0, None); State::COUNT] };
        for state in State::ALL {
            let possible = match state {
                RowStart | FieldStart | Unquoted | Skip => true,
                Quoted | AfterQuote | AfterQuoteReturn => syntax.quote().is_some(),
                Padding => syntax.has_padding(),
                AfterQuotePadding => syntax.has_padding() && syntax.quote().is_some(),
                UnquotedEscape | UnquotedEscaped => syntax.escape().is_some(),
                QuotedEscape => syntax.escape().is_some() && syntax.quote().is_some(),
                Bracketed | AfterBracket => syntax.has_brackets(),
                HalfComment => syntax.has_doubled_comment(),
                Comment => syntax.comment().is_some(),
            };
            if possible {
                new.starts[state as usize].0 = new.tracks.len();
                new.tracks.push(End { state, rows: None });
            }
        }
        new
    }

    /// Merges tracks that have converged.
    fn merge(&mut self) {
        let mut kept: Vec<End> = Vec::with_capacity(self.tracks.len());
        let mut indexes = [0; State::COUNT];
        for (track, index) in self.tracks.iter().zip(&mut indexes) {
            *index = kept.iter().position(|other| other.state == track.state).unwrap_or(kept.len());
            if *index == kept.len() {
                kept.push(End { state: track.state, rows: None });
            }
        }
        for (track, rows) in &mut self.starts {
            *rows = self.tracks[*track].rows.or(*rows);
            *track = indexes[*track];
        }
        self.tracks = kept;
    }

    /// Advances through the next line end, byte by byte.
    fn follow_line(&mut self, syntax: &Syntax, chunk: &[u8], mut at: usize) -> usize {
        let line_end = syntax.line_end().byte();
        loop {
            let rest = &chunk[at..chunk.len().min(at + BLOCK)];
            let found = rest.iter().position(|&byte| byte == line_end);
            let rest = &rest[..found.map_or(rest.len(), |index| index + 1)];
            at += rest.len();
            for track in &mut self.tracks {
                track.state = rest.iter().fold(track.state, |state, &byte| state.next(syntax.class(byte)));
                if found.is_some() && track.state == State::RowStart {
                    track.rows = Some(at);
                }
            }
            if self.tracks.len() > 1 {
                self.merge();
            }
            if found.is_some() || at == chunk.len() {
                return at;
            }
        }
    }

    /// Advances through whole blocks, up to one that needs the automaton in one of the tracks.
    fn follow_blocks(&mut self, level: Level, syntax: &Syntax, chunk: &[u8], mut at: usize) -> usize {
        let end = &mut at;
        match (self.tracks.as_mut_slice(), syntax.quote().is_some()) {
            ([one], true) => run_with(level, FollowBlocks::<1, true> { syntax, chunk, at: end, tracks: [one] }),
            ([one], false) => run_with(level, FollowBlocks::<1, false> { syntax, chunk, at: end, tracks: [one] }),
            ([one, two], true) => {
                run_with(level, FollowBlocks::<2, true> { syntax, chunk, at: end, tracks: [one, two] });
            }
            // More tracks are advanced byte by byte to the next line end, and so are two without quotes: they converge
            // there.
            _ => {}
        }
        at
    }

    fn finish(mut self) -> Transition {
        self.merge();
        Transition { ends: self.starts.map(|(track, rows)| End { state: self.tracks[track].state, rows }) }
    }
}

struct FollowBlocks<'a, const TRACKS: usize, const QUOTES: bool> {
    syntax: &'a Syntax,
    chunk: &'a [u8],
    at: &'a mut usize,
    tracks: [&'a mut End; TRACKS],
}

impl<const TRACKS: usize, const QUOTES: bool> Work for FollowBlocks<'_, TRACKS, QUOTES> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<B: Isa>(self) {
        let mut carries = [const { None }; TRACKS];
        for (carry, track) in carries.iter_mut().zip(&self.tracks) {
            *carry = Carry::new(track.state);
        }
        if carries.iter().any(Option::is_none) {
            return;
        }
        let mut carries = carries.map(|carry| carry.unwrap_or_else(|| unreachable!("all are there")));
        let needles = Needles::new(self.syntax);
        let (blocks, _) = self.chunk[*self.at..].as_chunks::<BLOCK>();
        // The last row end: the number of the block, counted from 1, and the row ends in it.
        let mut last = [(0, 0); TRACKS];
        let mut done = 0;
        'blocks: for block in blocks {
            // SAFETY: the caller promises the instructions.
            let masks = unsafe { Masks::of::<B, QUOTES>(&needles, block) };
            let mut next = carries;
            let mut rows = [0; TRACKS];
            for track in 0..TRACKS {
                let found = match QUOTES {
                    // SAFETY: likewise.
                    true => unsafe { next[track].step::<B>(&needles, &masks, block) },
                    false => next[track].step_without_quotes(&masks),
                };
                let Some(found) = found else { break 'blocks };
                rows[track] = found.rows;
            }
            carries = next;
            done += 1;
            for track in 0..TRACKS {
                last[track] = if rows[track] != 0 { (done, rows[track]) } else { last[track] };
            }
        }
        for ((track, carry), (block, rows)) in self.tracks.into_iter().zip(carries).zip(last) {
            track.state = carry.state(self.syntax, track.state, &self.chunk[*self.at..][..done * BLOCK]);
            if block > 0 {
                track.rows = Some(*self.at + (block - 1) * BLOCK + 64 - rows.leading_zeros() as usize);
            }
        }
        *self.at += done * BLOCK;
    }
}
