//! A file in a store that is read at any offset.

use crate::address::Address;
use crate::cache::{Cache, Lookup};
use crate::failure::Failure;
use crate::plan::requests;
use crate::request::{Source, Version};
use crate::runtime::{POLL_INTERVAL, check, handle, wait};
use crate::usage::count_needed;
use brc_core::{Error, ReadAt, Result};
use bytes::Bytes;
use object_store::GetRange;
use parking_lot::{Condvar, Mutex};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

/// The number of bytes at a file's end that are fetched when it is opened: nearly always the whole footer.
const END_BYTES: u64 = 64 << 10;

/// The minimum number of bytes of a request for a range that was not expected.
const MIN_REQUEST_BYTES: u64 = 64 << 10;

/// A file in a store that several threads can read at once; [expected](ReadAt::expect) ranges are prefetched.
pub struct Object(Arc<Shared>);

struct Shared {
    source: Source,
    version: Version,
    cache: Mutex<Cache>,
    /// Signals that a range has arrived, or that fetching it failed.
    has_arrived: Condvar,
}

impl Object {
    /// Opens a file with one request that also fetches its end. `None` if the server sends only whole files, or does
    /// not understand a request for the end of a file.
    ///
    /// # Errors
    /// If the file does not exist, or may not be read.
    pub fn open(address: &Address) -> Result<Option<Self>> {
        let source = Source::new(address.clone())?;
        let cloned = source.clone();
        let failed = |error| Error::io(&address.path, "open")(error);
        let opened = wait(async move { cloned.fetch(GetRange::Suffix(END_BYTES), None).await }).map_err(failed)?;
        let (range, bytes, version) = match opened {
            Ok(opened) => opened,
            Err(failure) if failure.kind == ErrorKind::Unsupported || failure.is_refusal() => return Ok(None),
            Err(failure) => return Err(failed(failure.into())),
        };
        let mut cache = Cache::default();
        cache.put(&range, bytes);
        Ok(Some(Self(Arc::new(Shared { source, version, cache: Mutex::new(cache), has_arrived: Condvar::new() }))))
    }

    /// At most `wanted` bytes at an offset; waits until at least one is available.
    fn bytes_at(&self, offset: u64, wanted: u64) -> io::Result<Bytes> {
        let shared = &self.0;
        let mut cache = shared.cache.lock();
        loop {
            match cache.read(offset, wanted, MIN_REQUEST_BYTES, shared.version.length()) {
                Lookup::Bytes(bytes, unread) => {
                    count_needed(unread);
                    shared.fetch_expected(&mut cache)?;
                    return Ok(bytes);
                }
                Lookup::Failed(failure, range) => return Err(failure.at(&range)),
                Lookup::Nothing(range) => {
                    cache.begin(&range);
                    shared.fetch(range)?;
                }
                Lookup::InFlight => {
                    shared.has_arrived.wait_for(&mut cache, POLL_INTERVAL);
                    check()?;
                }
            }
        }
    }
}

impl Shared {
    /// Requests as many expected ranges as the limits allow.
    fn fetch_expected(self: &Arc<Self>, cache: &mut Cache) -> io::Result<()> {
        while let Some(range) = cache.next_to_fetch() {
            self.fetch(range)?;
        }
        Ok(())
    }

    /// Fetches a range that counts as in flight.
    fn fetch(self: &Arc<Self>, range: Range<u64>) -> io::Result<()> {
        let shared = Arc::clone(self);
        handle()?.spawn(async move {
            let fetched = shared.source.fetch(GetRange::Bounded(range.clone()), Some(&shared.version)).await;
            let fetched = fetched.and_then(|(sent, bytes, _)| match sent == range {
                true => Ok(bytes),
                false => Err(Failure::permanent(ErrorKind::InvalidData, "the server sent other bytes")),
            });
            let mut cache = shared.cache.lock();
            cache.end(range.start, fetched);
            // If no thread can be started, the failure is not reported; a reader that waits for the next range requests
            // it.
            let _ = shared.fetch_expected(&mut cache);
            shared.has_arrived.notify_all();
        });
        Ok(())
    }
}

impl ReadAt for Object {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let wanted = self.0.version.length().saturating_sub(offset).min(buffer.len() as u64);
        if wanted == 0 {
            return Ok(0);
        }
        let bytes = self.bytes_at(offset, wanted)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.version.length())
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn expect(&self, ranges: Vec<Range<u64>>) {
        let end = self.0.version.length();
        let ranges = ranges.into_iter().map(|range| range.start.min(end)..range.end.min(end)).collect();
        let mut cache = self.0.cache.lock();
        cache.expect(requests(ranges));
        // Ranges that cannot be requested now are requested when they are read.
        let _ = self.0.fetch_expected(&mut cache);
    }

    fn forget(&self, range: Range<u64>) {
        let mut cache = self.0.cache.lock();
        cache.forget_within(&range);
        let _ = self.0.fetch_expected(&mut cache);
    }
}
