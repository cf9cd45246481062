//! Writes the results of several workers to one output, in order.
//!
//! The offset of a piece is known only when all pieces before it are, so a piece that is early waits. Only one thread
//! writes at a time, because file systems serialise writes to one file anyway. A worker that delivers a piece while no
//! thread is writing becomes the writer until nothing is left to write; the others return to work at once, unless more
//! bytes than a limit are waiting. Accepting pieces works the same way.

use crate::output::Output;
use brc_core::Result;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};

/// Turns pieces into bytes to write, one piece at a time, in order.
pub trait Accept {
    /// The result that workers deliver.
    type Piece: Send;

    /// The bytes written for a piece.
    type Bytes: AsRef<[u8]> + Send;

    /// The number of written buffers kept for [`Ordered::deliver`] to return.
    const SPARES: usize;

    /// The size of a piece in bytes, for the limit on waiting pieces.
    fn size(piece: &Self::Piece) -> usize;

    /// Accepts the next piece.
    ///
    /// # Errors
    /// If the piece cannot be added to the output.
    fn accept(&mut self, piece: Self::Piece) -> Result<Self::Bytes>;
}

/// An output that is written in the order of the pieces' numbers, from 0 without a gap.
pub struct Ordered<'a, A: Accept> {
    output: &'a Output,
    /// The maximum bytes that may wait.
    bound: usize,
    /// Locked only by threads that do not hold the state.
    accept: Mutex<A>,
    state: Mutex<State<A>>,
    /// Signals that the state has changed.
    changed: Condvar,
}

struct State<A: Accept> {
    /// The number of the next piece to accept, or of the one being accepted.
    next: u64,
    /// Pieces from this number on are not accepted: this one failed.
    end: u64,
    /// The offset of the next piece.
    offset: u64,
    /// Pieces that are early.
    early: BTreeMap<u64, A::Piece>,
    /// Bytes to write, each with the size of its piece and its offset.
    ready: VecDeque<(A::Bytes, usize, u64)>,
    /// The total size of pieces that are early, ready or being written.
    waiting: usize,
    is_accepting: bool,
    is_writing: bool,
    spares: Vec<A::Bytes>,
}

impl<'a, A: Accept> Ordered<'a, A> {
    /// Writes pieces to `output` from `offset` on.
    pub fn new(output: &'a Output, offset: u64, bound: usize, accept: A) -> Self {
        let state = State {
            next: 0,
            end: u64::MAX,
            offset,
            early: BTreeMap::new(),
            ready: VecDeque::new(),
            waiting: 0,
            is_accepting: false,
            is_writing: false,
            spares: Vec::new(),
        };
        Self { output, bound, accept: Mutex::new(accept), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Delivers a piece, and possibly writes it and others. Returns written bytes whose buffer can be reused.
    ///
    /// # Errors
    /// Those of [`Accept::accept`] or of writing; the piece is then [abandoned](Self::abandon).
    pub fn deliver(&self, index: u64, piece: A::Piece) -> Result<Option<A::Bytes>> {
        self.try_deliver(index, piece).inspect_err(|_| self.abandon(index))
    }

    /// Delivers data that precedes a piece still to come: waits until that piece would be the next one.
    ///
    /// # Errors
    /// As for [`Ordered::deliver`].
    pub fn deliver_ahead(&self, index: u64, piece: A::Piece) -> Result<Option<A::Bytes>> {
        self.try_deliver_ahead(index, piece).inspect_err(|_| self.abandon(index))
    }

    fn try_deliver_ahead(&self, index: u64, piece: A::Piece) -> Result<Option<A::Bytes>> {
        let size = A::size(&piece);
        let mut state = self.state.lock();
        let is_full = |state: &State<A>| state.is_writing && state.waiting + size > self.bound;
        let must_wait = |state: &State<A>| index > state.next || state.is_accepting || is_full(state);
        while index < state.end && must_wait(&state) {
            self.changed.wait(&mut state);
        }
        if index >= state.end {
            return Ok(None);
        }
        state.waiting += size;
        self.accept(&mut state, piece)?;
        self.write_if_idle(&mut state)
    }

    fn try_deliver(&self, index: u64, piece: A::Piece) -> Result<Option<A::Bytes>> {
        let size = A::size(&piece);
        let mut state = self.state.lock();
        // While no thread writes, all others wait for the next piece: it must not wait itself.
        let is_needed = |state: &State<A>| index == state.next && !state.is_accepting && !state.is_writing;
        while index < state.end && state.waiting + size > self.bound && !is_needed(&state) {
            self.changed.wait(&mut state);
        }
        if index >= state.end {
            return Ok(None);
        }
        state.waiting += size;
        state.early.insert(index, piece);
        if !state.is_accepting {
            self.accept_all(&mut state)?;
        }
        self.write_if_idle(&mut state)
    }

    /// Writes what is ready, unless another thread does.
    fn write_if_idle(&self, state: &mut MutexGuard<'_, State<A>>) -> Result<Option<A::Bytes>> {
        if !state.is_writing {
            state.is_writing = true;
            self.write(state)?;
        }
        Ok(state.spares.pop())
    }

    /// Writes until nothing is ready.
    fn write(&self, state: &mut MutexGuard<'_, State<A>>) -> Result<()> {
        while let Some((bytes, size, offset)) = state.ready.pop_front() {
            let written = MutexGuard::unlocked(state, || self.output.write_at(bytes.as_ref(), offset));
            state.waiting -= size;
            if state.spares.len() < A::SPARES {
                state.spares.push(bytes);
            }
            self.changed.notify_all();
            if written.is_err() {
                state.is_writing = false;
                written?;
            }
        }
        state.is_writing = false;
        self.changed.notify_all();
        Ok(())
    }

    /// Marks a piece as failed: it and all later pieces will not come, and no thread waits for them.
    pub fn abandon(&self, index: u64) {
        let mut state = self.state.lock();
        state.end = state.end.min(index);
        drop(state);
        self.changed.notify_all();
    }

    /// Accepts all pieces that are next in order.
    fn accept_all(&self, state: &mut MutexGuard<'_, State<A>>) -> Result<()> {
        loop {
            let next = state.next;
            let Some(piece) = state.early.remove(&next) else { return Ok(()) };
            self.accept(state, piece)?;
            state.next += 1;
        }
    }

    /// Accepts a piece without holding the state's lock.
    fn accept(&self, state: &mut MutexGuard<'_, State<A>>, piece: A::Piece) -> Result<()> {
        let size = A::size(&piece);
        state.is_accepting = true;
        let accepted = MutexGuard::unlocked(state, || self.with_acceptor(|acceptor| acceptor.accept(piece)));
        state.is_accepting = false;
        self.changed.notify_all();
        let bytes = accepted?;
        let offset = state.offset;
        state.offset += bytes.as_ref().len() as u64;
        state.ready.push_back((bytes, size, offset));
        Ok(())
    }

    /// Calls `look` with the acceptor.
    pub fn with_acceptor<T>(&self, look: impl FnOnce(&mut A) -> T) -> T {
        look(&mut self.accept.lock())
    }

    /// The acceptor, and the offset after the last piece.
    pub fn finish(self) -> (A, u64) {
        let state = self.state.into_inner();
        (self.accept.into_inner(), state.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputOptions;
    use brc_core::Error;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Accepts pieces unchanged, but fails on a single `!`.
    struct UnchangedPieces;

    impl Accept for UnchangedPieces {
        type Piece = Vec<u8>;
        type Bytes = Vec<u8>;
        const SPARES: usize = 2;

        fn size(piece: &Vec<u8>) -> usize {
            piece.len()
        }

        fn accept(&mut self, piece: Vec<u8>) -> Result<Vec<u8>> {
            if piece == b"!" { Err(Error::Usage("no".into())) } else { Ok(piece) }
        }
    }

    fn in_order(threads: usize, bound: usize) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("target");
        let output = Output::create(&path, &OutputOptions::default()).unwrap();
        let ordered = Ordered::new(&output, 0, bound, UnchangedPieces);
        let next = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Relaxed);
                        if index >= 500 {
                            return;
                        }
                        if index.is_multiple_of(7) {
                            std::thread::yield_now();
                        }
                        ordered.deliver(index, format!("{index},").into_bytes()).unwrap();
                    }
                });
            }
        });
        let (_, end) = ordered.finish();
        output.commit().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, end);
        bytes
    }

    #[test]
    fn pieces_are_written_in_order() {
        let expected: String = (0..500).map(|index| format!("{index},")).collect();
        for threads in [1, 2, 5] {
            for bound in [0, 10, 1000] {
                assert_eq!(in_order(threads, bound), expected.as_bytes(), "{threads} threads, bound {bound}");
            }
        }
    }

    #[test]
    fn no_thread_waits_for_a_failed_piece() {
        let directory = tempfile::tempdir().unwrap();
        let output = Output::create(&directory.path().join("target"), &OutputOptions::default()).unwrap();
        let ordered = Ordered::new(&output, 0, 0, UnchangedPieces);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ordered.deliver(3, b"late".to_vec()));
            ordered.abandon(2);
            assert!(waiting.join().unwrap().is_ok());
        });
        assert!(ordered.deliver(0, b"!".to_vec()).is_err());
    }
}
