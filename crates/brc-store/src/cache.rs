//! The ranges of a file that are in memory, in flight or waiting to be requested.
//!
//! This is bookkeeping only: the caller fetches the ranges that the cache selects, and reports their arrival.

use crate::failure::Failure;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The maximum number of bytes per file that are in memory or in flight, except for what a reader is waiting for.
static MAX_HELD_BYTES: AtomicU64 = AtomicU64::new(DEFAULT_MAX_HELD_BYTES);

/// Its default and upper limit, however much memory there is.
const DEFAULT_MAX_HELD_BYTES: u64 = 256 << 20;

/// Sets the maximum number of bytes that each file prefetches; at least one range is always fetched.
pub fn hold_at_most(bytes: u64) {
    MAX_HELD_BYTES.store(bytes.min(DEFAULT_MAX_HELD_BYTES), Relaxed);
}

/// The maximum number of ranges in flight per file.
pub(crate) const MAX_IN_FLIGHT: usize = 16;

/// The ranges of one file, which do not overlap.
#[derive(Default)]
pub(crate) struct Cache {
    /// The fetched ranges and those in flight, by their start.
    ranges: BTreeMap<u64, CachedRange>,
    /// The expected ranges that are not requested yet.
    waiting: VecDeque<Range<u64>>,
    in_flight: usize,
    held: u64,
    /// The number of accesses so far.
    clock: u64,
}

struct CachedRange {
    end: u64,
    /// A lower bound of the bytes that have not been read yet.
    unread: u64,
    last_read: u64,
    /// Whether it will not be read again.
    is_forgotten: bool,
    state: State,
}

enum State {
    InFlight,
    Present(Bytes),
    Failed(Failure),
}

/// The result of looking up an offset.
pub(crate) enum Lookup {
    /// Bytes from that offset on, and the number of them that are read for the first time.
    Bytes(Bytes, u64),
    /// The range is in flight.
    InFlight,
    /// Fetching it failed.
    Failed(Failure, Range<u64>),
    /// Not requested: the range to request, as it was expected or as far as it is free.
    Nothing(Range<u64>),
}

impl Cache {
    /// Records ranges that will be read, except what is present or expected already.
    pub(crate) fn expect(&mut self, ranges: Vec<Range<u64>>) {
        for range in ranges {
            let mut start = range.start;
            while start < range.end {
                let (taken, end) = self.next_taken(start, range.end);
                if start < taken {
                    self.waiting.push_back(start..taken);
                }
                start = end;
            }
        }
    }

    /// The bounds of the next range from an offset on that is present or expected; both are `limit` if there is none
    /// before it.
    fn next_taken(&self, start: u64, limit: u64) -> (u64, u64) {
        let before = self.ranges.range(..=start).next_back().filter(|(_, range)| range.end > start);
        let next = before.or_else(|| self.ranges.range(start..limit).next()).map(|(&at, range)| at..range.end);
        let waiting = self.waiting.iter().filter(|range| range.end > start && range.start < limit).cloned();
        match waiting.chain(next).min_by_key(|range| range.start) {
            Some(range) => (range.start.max(start), range.end.min(limit)),
            None => (limit, limit),
        }
    }

    /// The next expected range for which there is memory; it then counts as in flight.
    pub(crate) fn next_to_fetch(&mut self) -> Option<Range<u64>> {
        let next = self.waiting.front()?.clone();
        let bytes = next.end - next.start;
        if self.in_flight >= MAX_IN_FLIGHT || (self.held > 0 && !self.make_room(bytes)) {
            return None;
        }
        self.waiting.pop_front();
        self.begin(&next);
        Some(next)
    }

    /// Records that a range is in flight, also if there is no memory for it.
    pub(crate) fn begin(&mut self, range: &Range<u64>) {
        self.make_room(range.end - range.start);
        self.waiting.retain(|waiting| waiting != range);
        self.in_flight += 1;
        self.held += range.end - range.start;
        self.clock += 1;
        let (end, unread, last_read) = (range.end, range.end - range.start, self.clock);
        self.ranges
            .insert(range.start, CachedRange { end, unread, last_read, is_forgotten: false, state: State::InFlight });
    }

    /// Records that a range has arrived, or that fetching it failed.
    pub(crate) fn end(&mut self, start: u64, outcome: Result<Bytes, Failure>) {
        self.in_flight -= 1;
        if let Some(range) = self.ranges.get_mut(&start) {
            range.state = match outcome {
                Ok(bytes) => State::Present(bytes),
                Err(failure) => State::Failed(failure),
            };
            if range.is_forgotten {
                self.forget(start);
            }
        }
    }

    /// Adds a range that arrived without a request for its offset.
    pub(crate) fn put(&mut self, range: &Range<u64>, bytes: Bytes) {
        self.begin(range);
        self.end(range.start, Ok(bytes));
    }

    /// The bytes at an offset, at most `length`, which count as read. They stay in memory, because they may be read
    /// again, until they are forgotten or other ranges need the memory. A failed range is forgotten, so that it can be
    /// requested again.
    pub(crate) fn read(&mut self, at: u64, length: u64, least: u64, file_end: u64) -> Lookup {
        let Some((&start, range)) = self.ranges.range_mut(..=at).next_back().filter(|(_, range)| range.end > at) else {
            return Lookup::Nothing(self.range_to_request(at, length.max(least), file_end));
        };
        self.clock += 1;
        (range.last_read, range.is_forgotten) = (self.clock, false);
        let bytes = match &range.state {
            State::InFlight => return Lookup::InFlight,
            State::Failed(failure) => {
                let failed = Lookup::Failed(failure.clone(), start..range.end);
                self.forget(start);
                return failed;
            }
            State::Present(bytes) => {
                let from = (at - start) as usize;
                bytes.slice(from..bytes.len().min(from.saturating_add(length as usize)))
            }
        };
        let unread = range.unread.min(bytes.len() as u64);
        range.unread -= unread;
        Lookup::Bytes(bytes, unread)
    }

    fn range_to_request(&self, at: u64, length: u64, file_end: u64) -> Range<u64> {
        if let Some(waiting) = self.waiting.iter().find(|waiting| waiting.contains(&at)) {
            return waiting.clone();
        }
        let limit = at.saturating_add(length).min(file_end);
        at..self.next_taken(at, limit).0
    }

    /// Forgets the ranges within a range; those in flight as soon as they arrive.
    pub(crate) fn forget_within(&mut self, range: &Range<u64>) {
        let is_within = |start: u64, end: u64| range.start <= start && end <= range.end;
        self.waiting.retain(|range| !is_within(range.start, range.end));
        let within = self.ranges.range_mut(range.clone()).filter(|(start, range)| is_within(**start, range.end));
        let mut arrived = Vec::new();
        for (&start, range) in within {
            match range.state {
                State::InFlight => range.is_forgotten = true,
                State::Present(_) | State::Failed(_) => arrived.push(start),
            }
        }
        arrived.into_iter().for_each(|start| self.forget(start));
    }

    fn forget(&mut self, start: u64) {
        if let Some(range) = self.ranges.remove(&start) {
            self.held -= range.end - start;
        }
    }

    /// Frees memory for more bytes by forgetting the least recently used ranges of which something has been read.
    /// Returns whether there is memory.
    fn make_room(&mut self, bytes: u64) -> bool {
        while self.held + bytes > MAX_HELD_BYTES.load(Relaxed) {
            let present = self.ranges.iter().filter(|(_, range)| matches!(range.state, State::Present(_)));
            let read = present.filter(|(start, range)| range.unread < range.end - **start);
            let Some((&start, _)) = read.min_by_key(|(_, range)| range.last_read) else { return false };
            self.forget(start);
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE_END: u64 = 1 << 40;

    fn fetch(cache: &mut Cache, range: &Range<u64>) {
        cache.end(range.start, Ok(Bytes::from(vec![0; (range.end - range.start) as usize])));
    }

    #[test]
    fn expected_ranges_are_fetched_once() {
        let mut cache = Cache::default();
        cache.expect(vec![0..10, 20..30]);
        cache.expect(vec![5..25]);
        let fetched: Vec<_> = std::iter::from_fn(|| cache.next_to_fetch()).collect();
        assert_eq!(fetched, [0..10, 20..30, 10..20]);
        assert!(matches!(cache.read(12, 3, 1, FILE_END), Lookup::InFlight));
        fetched.iter().for_each(|range| fetch(&mut cache, range));
        assert!(matches!(cache.read(12, 30, 1, FILE_END), Lookup::Bytes(bytes, 8) if bytes.len() == 8));
        assert!(matches!(cache.read(10, 2, 1, FILE_END), Lookup::Bytes(bytes, 2) if bytes.len() == 2));
        assert!(matches!(cache.read(10, 50, 1, FILE_END), Lookup::Bytes(bytes, 0) if bytes.len() == 10));
        assert_eq!(cache.held, 30);
        cache.forget_within(&(10..20));
        assert!(matches!(cache.read(10, 50, 1, FILE_END), Lookup::Nothing(range) if range == (10..20)));
        assert_eq!(cache.held, 20);
    }

    #[test]
    fn waiting_ranges_are_requested_as_expected() {
        let mut cache = Cache::default();
        cache.expect(vec![0..10]);
        assert!(matches!(cache.read(3, 2, 1, FILE_END), Lookup::Nothing(range) if range == (0..10)));
        assert!(matches!(cache.read(12, 2, 100, 50), Lookup::Nothing(range) if range == (12..50)));
        cache.begin(&(0..10));
        assert!(cache.next_to_fetch().is_none());
        cache.end(0, Err(Failure::changed()));
        assert!(matches!(cache.read(3, 2, 1, FILE_END), Lookup::Failed(_, range) if range == (0..10)));
        assert!(matches!(cache.read(3, 2, 1, 8), Lookup::Nothing(range) if range == (3..5)));
    }

    #[test]
    fn unneeded_ranges_are_forgotten() {
        let mut cache = Cache::default();
        cache.expect(vec![0..10, 20..30, 40..50]);
        let fetched: Vec<_> = std::iter::from_fn(|| cache.next_to_fetch()).collect();
        cache.expect(vec![32..38, 60..70]);
        fetch(&mut cache, &fetched[0]);
        fetch(&mut cache, &fetched[1]);
        cache.forget_within(&(15..55));
        assert_eq!(cache.held, 20);
        fetch(&mut cache, &fetched[2]);
        assert_eq!(cache.held, 10);
        assert_eq!(cache.next_to_fetch(), Some(60..70));
        assert!(matches!(cache.read(0, 10, 1, FILE_END), Lookup::Bytes(..)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut cache = Cache::default();
        let range = |number: u64| number * (64 << 20)..(number + 1) * (64 << 20);
        cache.expect((0..8).map(range).collect());
        let mut next = || cache.next_to_fetch();
        let fetched: Vec<_> = std::iter::from_fn(&mut next).collect();
        assert_eq!(fetched, (0..4).map(range).collect::<Vec<_>>());
        cache.end(0, Ok(Bytes::from(vec![0; 64 << 20])));
        assert!(cache.next_to_fetch().is_none(), "what came is still to be read");
        assert!(matches!(cache.read(0, 1, 1, FILE_END), Lookup::Bytes(..)));
        assert_eq!(cache.next_to_fetch(), Some(range(4)));
        assert!(cache.next_to_fetch().is_none());
        (1..5).map(range).for_each(|range| fetch(&mut cache, &range));
        assert!(cache.next_to_fetch().is_none(), "nothing is in flight, but nothing was read either");
        assert_eq!(cache.held, DEFAULT_MAX_HELD_BYTES);
        // A reader that needs another range gets it.
        cache.begin(&range(7));
        fetch(&mut cache, &range(7));
        assert!(matches!(cache.read(range(7).start, 1, 1, FILE_END), Lookup::Bytes(..)));
        cache.begin(&range(6));
        assert_eq!(cache.held, DEFAULT_MAX_HELD_BYTES + (64 << 20), "what was read made room");
    }

    proptest! {
        #[test]
        fn ranges_never_overlap(expected in prop::collection::vec((0u64..1000, 1u64..100), 1..30)) {
            let mut cache = Cache::default();
            let mut fetched = Vec::new();
            for (start, length) in expected {
                cache.expect(vec![start..start + length]);
                if start % 3 == 0 {
                    fetched.extend(cache.next_to_fetch());
                }
            }
            while let Some(range) = cache.next_to_fetch() {
                fetched.push(range.clone());
                fetch(&mut cache, &range);
                if fetched.len() > MAX_IN_FLIGHT { break }
            }
            fetched.sort_by_key(|range| range.start);
            prop_assert!(fetched.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
