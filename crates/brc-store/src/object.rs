//! A file in a store that is read at any offset.

use crate::address::Address;
use crate::cache::{Cache, Found};
use crate::failure::Failure;
use crate::plan::requests;
use crate::request::{Source, Version};
use crate::runtime::{GLANCE, check, handle, wait};
use crate::usage::count_needed;
use brc_core::{Error, ReadAt, Result};
use bytes::Bytes;
use object_store::GetRange;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How much of a file's end comes when it is opened: nearly always the whole footer.
const END: u64 = 64 << 10;

/// How much is asked for at least where nobody said before what is going to be read.
const LEAST: u64 = 64 << 10;

/// A file in a store. Threads read it side by side; what they [expect](ReadAt::expect) to read comes ahead.
pub struct Object(Arc<Shared>);

struct Shared {
    source: Source,
    version: Version,
    cache: Mutex<Cache>,
    /// Some part has come, or does not.
    has_come: Condvar,
}

impl Object {
    /// Opens a file, with one request that also brings its end. `None` if the server sends only whole files, or cannot make sense
    /// of a request for the end of one.
    ///
    /// # Errors
    /// If there is none, or it may not be read.
    pub fn open(address: &Address) -> Result<Option<Self>> {
        let source = Source::new(address.clone())?;
        let asking = source.clone();
        let failed = |error| Error::io(&address.path, "open")(error);
        let opened = wait(async move { asking.fetch(GetRange::Suffix(END), None).await }).map_err(failed)?;
        let (range, bytes, version) = match opened {
            Ok(opened) => opened,
            Err(failure) if failure.kind == ErrorKind::Unsupported || failure.is_refusal() => return Ok(None),
            Err(failure) => return Err(failed(failure.into())),
        };
        let mut cache = Cache::default();
        cache.put(&range, bytes);
        Ok(Some(Self(Arc::new(Shared { source, version, cache: Mutex::new(cache), has_come: Condvar::new() }))))
    }

    /// Some bytes at an offset: as many as are there of those that are wanted; waits for the first.
    fn bytes_at(&self, offset: u64, wanted: u64) -> io::Result<Bytes> {
        let shared = &self.0;
        let mut cache = shared.lock();
        loop {
            match cache.read(offset, wanted, LEAST, shared.version.length()) {
                Found::Bytes(bytes, unread) => {
                    count_needed(unread);
                    shared.fetch_expected(&mut cache)?;
                    return Ok(bytes);
                }
                Found::Failed(failure, part) => return Err(failure.at(&part)),
                Found::Nothing(part) => {
                    cache.begin(&part);
                    shared.fetch(part)?;
                }
                Found::Coming => {
                    let waited = shared.has_come.wait_timeout(cache, GLANCE);
                    cache = waited.unwrap_or_else(PoisonError::into_inner).0;
                    check()?;
                }
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for as many of the expected parts as may come now.
    fn fetch_expected(self: &Arc<Self>, cache: &mut Cache) -> io::Result<()> {
        while let Some(part) = cache.next_to_fetch() {
            self.fetch(part)?;
        }
        Ok(())
    }

    /// Has a part come that counts as on its way.
    fn fetch(self: &Arc<Self>, part: Range<u64>) -> io::Result<()> {
        let shared = Arc::clone(self);
        handle()?.spawn(async move {
            let fetched = shared.source.fetch(GetRange::Bounded(part.clone()), Some(&shared.version)).await;
            let fetched = fetched.and_then(|(range, bytes, _)| match range == part {
                true => Ok(bytes),
                false => Err(Failure::lasting(ErrorKind::InvalidData, "the server sent other bytes")),
            });
            let mut cache = shared.lock();
            cache.end(part.start, fetched);
            // Without threads nobody can say so; whoever waits for the next part asks for it.
            let _ = shared.fetch_expected(&mut cache);
            shared.has_come.notify_all();
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
        let mut cache = self.0.lock();
        cache.expect(requests(ranges));
        // What cannot be asked for now is when it is read.
        let _ = self.0.fetch_expected(&mut cache);
    }

    fn forget(&self, range: Range<u64>) {
        let mut cache = self.0.lock();
        cache.forget_within(&range);
        let _ = self.0.fetch_expected(&mut cache);
    }
}
