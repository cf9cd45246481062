//! A single request: retried if that may help, and verified against what is known of the file.

use crate::address::{Address, Retries};
use crate::failure::Failure;
use crate::usage::{count_fetched, count_request};
use brc_core::Error;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The maximum number of attempts.
pub(crate) const TRIES: u32 = 5;

/// The environment variable with the number of seconds that a server may send nothing.
const TIMEOUT_VARIABLE: &str = "BRC_STORE_TIMEOUT";

/// The default in seconds.
const TIMEOUT: f64 = if cfg!(test) { 0.3 } else { 30.0 };

static SILENCE_TIMEOUT: LazyLock<Duration> =
    LazyLock::new(|| requested_timeout().ok().flatten().unwrap_or(Duration::from_secs_f64(TIMEOUT)));

/// The timeout that the environment sets, if it sets one.
///
/// # Errors
/// [`Error::Usage`] if it is not a number of seconds.
pub(crate) fn requested_timeout() -> brc_core::Result<Option<Duration>> {
    let Some(text) = std::env::var_os(TIMEOUT_VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse().ok()).filter(|seconds| (0.0..1e6).contains(seconds));
    let not_seconds = || Error::Usage(format!("{TIMEOUT_VARIABLE}: '{}' is no number of seconds", text.display()));
    seconds.map(|seconds| Some(Duration::from_secs_f64(seconds))).ok_or_else(not_seconds)
}

/// A file in its store.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) address: Arc<Address>,
    pub(crate) store: Arc<dyn ObjectStore>,
}

/// The identity of the file when it was opened.
#[derive(Debug, Clone)]
pub(crate) struct Version(ObjectMeta);

impl Version {
    pub(crate) fn length(&self) -> u64 {
        self.0.size
    }

    /// Whether a response is about the same bytes, as far as the server reports it.
    fn is(&self, other: &ObjectMeta) -> bool {
        let is_same_time = self.0.e_tag.is_some() || self.0.last_modified == other.last_modified;
        self.0.size == other.size && self.0.e_tag == other.e_tag && is_same_time
    }
}

impl Source {
    pub(crate) fn new(address: Address) -> brc_core::Result<Self> {
        Ok(Self { store: address.store(Retries::Ours)?, address: Arc::new(address) })
    }

    /// Requests bytes of the file: of this version of it, if it was opened before.
    pub(crate) async fn request(
        &self,
        range: Option<GetRange>,
        version: Option<&Version>,
    ) -> Result<(GetResult, Version), Failure> {
        // If-Match never matches a weak tag (RFC 9110, 13.1.1).
        let if_match = version.and_then(|version| version.0.e_tag.clone()).filter(|tag| !tag.starts_with("W/"));
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

    /// Requests bytes and returns them with their range.
    ///
    /// # Errors
    /// Why the last attempt failed.
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
        let (answer, version) = self.request(Some(range), version).await?;
        let range = answer.range.clone();
        let wanted = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut bytes = BytesMut::with_capacity(wanted.min(crate::plan::MAX_REQUEST_BYTES as usize));
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
        Err(Failure::temporary(ErrorKind::UnexpectedEof, reason))
    }
}

/// The delay before the first retry.
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 100 });

/// Retries as long as that may succeed, but not too often.
pub(crate) async fn retried<T, F>(mut request: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut attempt = 0;
    loop {
        match request().await {
            Err(failure) if failure.is_passing && attempt + 1 < TRIES => pause(attempt).await,
            outcome => return outcome,
        }
        attempt += 1;
    }
}

/// Waits before a retry: longer each time.
pub(crate) async fn pause(attempt: u32) {
    tokio::time::sleep(PAUSE * 3u32.pow(attempt)).await;
}

/// The result of a request.
///
/// # Errors
/// If nothing arrives before the timeout.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::time::timeout(*SILENCE_TIMEOUT, future).await.map_err(|_| {
        let reason = format!(
            "the server sent nothing for {} s ({TIMEOUT_VARIABLE} sets how long to wait)",
            SILENCE_TIMEOUT.as_secs_f64()
        );
        Failure::temporary(ErrorKind::TimedOut, reason)
    })
}
