//! One request: tried again where that may help, and held against what is known of the file.

use crate::address::{Address, Retries};
use crate::failure::Failure;
use crate::usage::{count_fetched, count_request};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// How often some bytes are asked for that came wrong or not at all.
pub(crate) const TRIES: u32 = 5;

/// How long a server may send nothing, by the environment.
const TIMEOUT_VARIABLE: &str = "BRC_STORE_TIMEOUT";

/// The same if it says nothing, in seconds.
const TIMEOUT: f64 = if cfg!(test) { 0.3 } else { 30.0 };

static SILENCE: LazyLock<Duration> = LazyLock::new(|| {
    let named = std::env::var(TIMEOUT_VARIABLE).ok().and_then(|seconds| seconds.parse().ok());
    let seconds = named.filter(|seconds| (0.0..1e6).contains(seconds)).unwrap_or(TIMEOUT);
    Duration::from_secs_f64(seconds)
});

/// A file as a store has it.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) address: Arc<Address>,
    pub(crate) store: Arc<dyn ObjectStore>,
}

/// Which file it was when it was opened.
#[derive(Debug, Clone)]
pub(crate) struct Version(ObjectMeta);

impl Version {
    pub(crate) fn length(&self) -> u64 {
        self.0.size
    }

    /// Whether another answer is about the same bytes, as far as the server tells.
    fn is(&self, other: &ObjectMeta) -> bool {
        let is_same_time = self.0.e_tag.is_some() || self.0.last_modified == other.last_modified;
        self.0.size == other.size && self.0.e_tag == other.e_tag && is_same_time
    }
}

impl Source {
    pub(crate) fn new(address: Address) -> brc_core::Result<Self> {
        Ok(Self { store: address.store(Retries::Ours)?, address: Arc::new(address) })
    }

    /// Asks for bytes of the file; of this version of it, if it was opened before.
    pub(crate) async fn ask(
        &self,
        range: Option<GetRange>,
        version: Option<&Version>,
    ) -> Result<(GetResult, Version), Failure> {
        let if_match = version.and_then(|version| version.0.e_tag.clone());
        let options = GetOptions { range, if_match, ..GetOptions::default() };
        count_request();
        let answer = in_time(self.store.get_opts(&self.address.key, options)).await?;
        let answer = answer.map_err(|error| Failure::of(&error, &self.address))?;
        if version.is_some_and(|version| !version.is(&answer.meta)) {
            return Err(Failure::changed());
        }
        let version = Version(answer.meta.clone());
        Ok((answer, version))
    }

    /// The same, and the bytes that came with where they lie.
    ///
    /// # Errors
    /// Why they do not come after some tries.
    pub(crate) async fn fetch(
        &self,
        range: GetRange,
        version: Option<&Version>,
    ) -> Result<(Range<u64>, Bytes, Version), Failure> {
        retried(|| self.fetch_once(range.clone(), version)).await
    }

    async fn fetch_once(
        &self,
        range: GetRange,
        version: Option<&Version>,
    ) -> Result<(Range<u64>, Bytes, Version), Failure> {
        let (answer, version) = self.ask(Some(range), version).await?;
        let range = answer.range.clone();
        let wanted = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut bytes = BytesMut::with_capacity(wanted.min(crate::plan::LARGEST as usize));
        let mut stream = answer.into_stream();
        while let Some(part) = in_time(stream.next()).await? {
            let part = part.map_err(|error| Failure::of(&error, &self.address))?;
            count_fetched(part.len());
            bytes.extend_from_slice(&part);
        }
        if bytes.len() == wanted {
            return Ok((range, bytes.freeze(), version));
        }
        let reason = format!("the server sent {} bytes of {wanted}", bytes.len());
        Err(Failure::passing(ErrorKind::UnexpectedEof, reason))
    }
}

/// How long to wait before the second try.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 100 });

/// Tries something again as long as another try may succeed, but not too often.
pub(crate) async fn retried<T, F>(mut ask: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut attempt = 0;
    loop {
        match ask().await {
            Err(failure) if failure.is_passing && attempt + 1 < TRIES => pause(attempt).await,
            outcome => return outcome,
        }
        attempt += 1;
    }
}

/// Waits before another try: longer each time.
pub(crate) async fn pause(attempt: u32) {
    tokio::time::sleep(PAUSE * 3u32.pow(attempt)).await;
}

/// What comes of a request, if something does.
///
/// # Errors
/// That nothing came for too long.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::time::timeout(*SILENCE, future).await.map_err(|_| {
        let reason = format!(
            "the server sent nothing for {} s ({TIMEOUT_VARIABLE} sets how long to wait)",
            SILENCE.as_secs_f64()
        );
        Failure::passing(ErrorKind::TimedOut, reason)
    })
}
