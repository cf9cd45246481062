//! The parts of a file that are in memory, on their way, or waiting to be asked for.
//!
//! Plain bookkeeping: who fetches parts says so, and is told which to fetch.

use crate::failure::Failure;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Parts of a file that are in memory or on their way have so many bytes at most, unless somebody waits for more.
static MOST_HELD: AtomicU64 = AtomicU64::new(LARGEST_HELD);

/// The same if nobody says so, and however much memory there is.
const LARGEST_HELD: u64 = 256 << 20;

/// Has files keep so many bytes ahead of those who read them at most, each of them; at least one part comes in any case.
pub fn hold_at_most(bytes: u64) {
    MOST_HELD.store(bytes.min(LARGEST_HELD), Relaxed);
}

/// So many parts are on their way at most, likewise.
pub(crate) const MOST_COMING: usize = 16;

/// The parts of one file. They do not overlap.
#[derive(Default)]
pub(crate) struct Cache {
    /// By their first byte.
    parts: BTreeMap<u64, Part>,
    /// Those that were expected and are not asked for yet.
    waiting: VecDeque<Range<u64>>,
    coming: usize,
    held: u64,
    /// Counts looks at parts.
    clock: u64,
}

struct Part {
    end: u64,
    /// How many of its bytes nobody has read yet, at least.
    unread: u64,
    last_read: u64,
    /// Nobody is going to read it.
    is_unwanted: bool,
    state: State,
}

enum State {
    Coming,
    Here(Bytes),
    Failed(Failure),
}

/// What there is at a place of the file.
pub(crate) enum Found {
    /// Some bytes from there on, of which so many were not read before.
    Bytes(Bytes, u64),
    /// They are on their way.
    Coming,
    /// They do not come.
    Failed(Failure, Range<u64>),
    /// Nobody has asked for them: the part to ask for, as it was expected or as it is free.
    Nothing(Range<u64>),
}

impl Cache {
    /// Notes parts that are going to be read. What is there already, or expected, is left out.
    pub(crate) fn expect(&mut self, parts: Vec<Range<u64>>) {
        for part in parts {
            let mut start = part.start;
            while start < part.end {
                let (taken, end) = self.next_taken(start, part.end);
                if start < taken {
                    self.waiting.push_back(start..taken);
                }
                start = end;
            }
        }
    }

    /// Where the next part begins and ends that is there or expected, from a byte on; both `limit` if there is none before it.
    fn next_taken(&self, start: u64, limit: u64) -> (u64, u64) {
        let before = self.parts.range(..=start).next_back().filter(|(_, part)| part.end > start);
        let next = before.or_else(|| self.parts.range(start..limit).next()).map(|(&at, part)| at..part.end);
        let waiting = self.waiting.iter().filter(|range| range.end > start && range.start < limit).cloned();
        match waiting.chain(next).min_by_key(|range| range.start) {
            Some(range) => (range.start.max(start), range.end.min(limit)),
            None => (limit, limit),
        }
    }

    /// The next expected part for which there is room; it counts as on its way.
    pub(crate) fn next_to_fetch(&mut self) -> Option<Range<u64>> {
        let next = self.waiting.front()?.clone();
        let bytes = next.end - next.start;
        if self.coming >= MOST_COMING || (self.coming > 0 && !self.make_room(bytes)) {
            return None;
        }
        self.waiting.pop_front();
        self.begin(&next);
        Some(next)
    }

    /// A part is on its way.
    pub(crate) fn begin(&mut self, part: &Range<u64>) {
        self.waiting.retain(|waiting| waiting != part);
        self.coming += 1;
        self.held += part.end - part.start;
        self.clock += 1;
        let (end, unread, last_read) = (part.end, part.end - part.start, self.clock);
        self.parts.insert(part.start, Part { end, unread, last_read, is_unwanted: false, state: State::Coming });
    }

    /// A part has come, or does not.
    pub(crate) fn end(&mut self, start: u64, outcome: Result<Bytes, Failure>) {
        self.coming -= 1;
        if let Some(part) = self.parts.get_mut(&start) {
            part.state = match outcome {
                Ok(bytes) => State::Here(bytes),
                Err(failure) => State::Failed(failure),
            };
            if part.is_unwanted {
                self.forget(start);
            }
        }
    }

    /// Puts a part there that came without being asked for by its place.
    pub(crate) fn put(&mut self, part: &Range<u64>, bytes: Bytes) {
        self.begin(part);
        self.end(part.start, Ok(bytes));
    }

    /// What there is at a byte, up to `length` bytes of it, which count as read. They stay, as they may be read again, until
    /// somebody says that they are not or others want the room. A part that failed is forgotten, so that it may be asked for
    /// again.
    pub(crate) fn read(&mut self, at: u64, length: u64, least: u64, file_end: u64) -> Found {
        let Some((&start, part)) = self.parts.range_mut(..=at).next_back().filter(|(_, part)| part.end > at) else {
            return Found::Nothing(self.part_to_ask(at, length.max(least), file_end));
        };
        self.clock += 1;
        (part.last_read, part.is_unwanted) = (self.clock, false);
        let bytes = match &part.state {
            State::Coming => return Found::Coming,
            State::Failed(failure) => {
                let failed = Found::Failed(failure.clone(), start..part.end);
                self.forget(start);
                return failed;
            }
            State::Here(bytes) => {
                let from = (at - start) as usize;
                bytes.slice(from..bytes.len().min(from.saturating_add(length as usize)))
            }
        };
        let unread = part.unread.min(bytes.len() as u64);
        part.unread -= unread;
        Found::Bytes(bytes, unread)
    }

    fn part_to_ask(&self, at: u64, length: u64, file_end: u64) -> Range<u64> {
        if let Some(waiting) = self.waiting.iter().find(|waiting| waiting.contains(&at)) {
            return waiting.clone();
        }
        let limit = at.saturating_add(length).min(file_end);
        at..self.next_taken(at, limit).0
    }

    /// Forgets the parts that lie in a range; those that are on their way when they come.
    pub(crate) fn forget_within(&mut self, range: &Range<u64>) {
        let is_within = |start: u64, end: u64| range.start <= start && end <= range.end;
        self.waiting.retain(|part| !is_within(part.start, part.end));
        let within = self.parts.range_mut(range.clone()).filter(|(start, part)| is_within(**start, part.end));
        let mut here = Vec::new();
        for (&start, part) in within {
            match part.state {
                State::Coming => part.is_unwanted = true,
                State::Here(_) | State::Failed(_) => here.push(start),
            }
        }
        here.into_iter().for_each(|start| self.forget(start));
    }

    fn forget(&mut self, start: u64) {
        if let Some(part) = self.parts.remove(&start) {
            self.held -= part.end - start;
        }
    }

    /// Forgets parts that nobody has looked at for the longest time, so that some more bytes have room. Those that came and were
    /// not looked at at all are still to be, unless nothing else is left.
    fn make_room(&mut self, bytes: u64) -> bool {
        while self.held + bytes > MOST_HELD.load(Relaxed) {
            let here = self.parts.iter().filter(|(_, part)| matches!(part.state, State::Here(_)));
            let oldest = here.map(|(&start, part)| (part.unread == part.end - start, part.last_read, start)).min();
            match oldest {
                Some((is_unread, _, start)) if !is_unread || self.coming == 0 => self.forget(start),
                _ => return self.coming == 0,
            }
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const END: u64 = 1 << 40;

    fn come(cache: &mut Cache, part: &Range<u64>) {
        cache.end(part.start, Ok(Bytes::from(vec![0; (part.end - part.start) as usize])));
    }

    #[test]
    fn expected_parts_are_fetched_once() {
        let mut cache = Cache::default();
        cache.expect(vec![0..10, 20..30]);
        cache.expect(vec![5..25]);
        let fetched: Vec<_> = std::iter::from_fn(|| cache.next_to_fetch()).collect();
        assert_eq!(fetched, [0..10, 20..30, 10..20]);
        assert!(matches!(cache.read(12, 3, 1, END), Found::Coming));
        fetched.iter().for_each(|part| come(&mut cache, part));
        assert!(matches!(cache.read(12, 30, 1, END), Found::Bytes(bytes, 8) if bytes.len() == 8));
        assert!(matches!(cache.read(10, 2, 1, END), Found::Bytes(bytes, 2) if bytes.len() == 2));
        assert!(matches!(cache.read(10, 50, 1, END), Found::Bytes(bytes, 0) if bytes.len() == 10));
        assert_eq!(cache.held, 30);
        cache.forget_within(&(10..20));
        assert!(matches!(cache.read(10, 50, 1, END), Found::Nothing(part) if part == (10..20)));
        assert_eq!(cache.held, 20);
    }

    #[test]
    fn what_waits_is_asked_for_as_it_was_expected() {
        let mut cache = Cache::default();
        cache.expect(vec![0..10]);
        assert!(matches!(cache.read(3, 2, 1, END), Found::Nothing(part) if part == (0..10)));
        assert!(matches!(cache.read(12, 2, 100, 50), Found::Nothing(part) if part == (12..50)));
        cache.begin(&(0..10));
        assert!(cache.next_to_fetch().is_none());
        cache.end(0, Err(Failure::changed()));
        assert!(matches!(cache.read(3, 2, 1, END), Found::Failed(_, part) if part == (0..10)));
        assert!(matches!(cache.read(3, 2, 1, 8), Found::Nothing(part) if part == (3..5)));
    }

    #[test]
    fn what_nobody_reads_any_more_is_forgotten() {
        let mut cache = Cache::default();
        cache.expect(vec![0..10, 20..30, 40..50]);
        let fetched: Vec<_> = std::iter::from_fn(|| cache.next_to_fetch()).collect();
        cache.expect(vec![32..38, 60..70]);
        come(&mut cache, &fetched[0]);
        come(&mut cache, &fetched[1]);
        cache.forget_within(&(15..55));
        assert_eq!(cache.held, 20);
        come(&mut cache, &fetched[2]);
        assert_eq!(cache.held, 10);
        assert_eq!(cache.next_to_fetch(), Some(60..70));
        assert!(matches!(cache.read(0, 10, 1, END), Found::Bytes(..)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut cache = Cache::default();
        let part = |number: u64| number * (64 << 20)..(number + 1) * (64 << 20);
        cache.expect((0..8).map(part).collect());
        let mut next = || cache.next_to_fetch();
        let fetched: Vec<_> = std::iter::from_fn(&mut next).collect();
        assert_eq!(fetched, (0..4).map(part).collect::<Vec<_>>());
        cache.end(0, Ok(Bytes::from(vec![0; 64 << 20])));
        assert!(cache.next_to_fetch().is_none(), "what came is still to be read");
        assert!(matches!(cache.read(0, 1, 1, END), Found::Bytes(..)));
        assert_eq!(cache.next_to_fetch(), Some(part(4)));
        assert!(cache.next_to_fetch().is_none());
        assert_eq!(cache.held, LARGEST_HELD);
    }

    proptest! {
        #[test]
        fn parts_never_overlap(expected in prop::collection::vec((0u64..1000, 1u64..100), 1..30)) {
            let mut cache = Cache::default();
            let mut fetched = Vec::new();
            for (start, length) in expected {
                cache.expect(vec![start..start + length]);
                if start % 3 == 0 {
                    fetched.extend(cache.next_to_fetch());
                }
            }
            while let Some(part) = cache.next_to_fetch() {
                fetched.push(part.clone());
                come(&mut cache, &part);
                if fetched.len() > MOST_COMING { break }
            }
            fetched.sort_by_key(|part| part.start);
            prop_assert!(fetched.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
