//! The address of a file: a store, and the file's key there.

use crate::failure::io_error;
use crate::request::requested_timeout;
use brc_core::{Error, Result};
use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path as Key;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The schemes of addresses.
const SCHEMES: [(&str, Scheme); 5] = [
    ("s3://", Scheme::S3),
    ("s3a://", Scheme::S3),
    ("gs://", Scheme::Gcs),
    ("http://", Scheme::Web),
    ("https://", Scheme::Web),
];

/// Environment variables with credentials for Amazon S3. Requests are not signed if none is set, as public buckets
/// require.
const S3_CREDENTIALS: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
    "AWS_SKIP_SIGNATURE",
];

/// The same for Google Cloud Storage.
const GCS_CREDENTIALS: [&str; 6] = [
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SKIP_SIGNATURE",
    "GOOGLE_BASE_URL",
];

/// Who retries a request to which the server responds with an error of its own, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retries {
    /// The caller, so that every request is counted and every response is verified.
    Ours,
    /// The library.
    Library,
}

/// The library's number of retries.
const RETRIES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    S3,
    Gcs,
    Web,
}

/// A file in a store, or the fixed prefix of a file pattern.
#[derive(Debug, Clone)]
pub struct Address {
    /// The user's spelling, for messages.
    pub(crate) path: PathBuf,
    pub(crate) scheme: Scheme,
    /// The scheme and the bucket; for web servers the whole address.
    pub(crate) bucket: String,
    /// The key of the file; empty for web servers.
    pub(crate) key: Key,
}

/// Whether a path is the address of a file in a store.
#[must_use]
pub fn is_address(path: &Path) -> bool {
    path.to_str().and_then(scheme).is_some()
}

/// Splits an address into the scheme and the rest.
fn scheme(text: &str) -> Option<(Scheme, &str)> {
    SCHEMES.iter().find_map(|(name, scheme)| {
        let start = text.get(..name.len())?;
        start.eq_ignore_ascii_case(name).then(|| (*scheme, &text[name.len()..]))
    })
}

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is malformed or has no bucket.
    pub fn parse(path: &Path) -> Result<Self> {
        let refused = |reason: &str| Error::Usage(format!("{}: {reason}", path.display()));
        let text = path.to_str().ok_or_else(|| refused("is not UTF-8"))?;
        let (scheme, rest) = scheme(text).ok_or_else(|| refused("is no address of a file in a store"))?;
        let (bucket, key) = match scheme {
            Scheme::Web => (text, ""),
            Scheme::S3 | Scheme::Gcs => rest.split_once('/').unwrap_or((rest, "")),
        };
        if bucket.is_empty() {
            return Err(refused("names no bucket"));
        }
        let key = Key::parse(key).map_err(|error| refused(&error.to_string()))?;
        Ok(Self { path: path.to_owned(), scheme, bucket: bucket.to_owned(), key })
    }

    /// The path of a different file in the same bucket.
    pub(crate) fn of_key(&self, key: &Key) -> PathBuf {
        let text = self.path.to_string_lossy();
        let scheme = text.find("://").map_or(0, |at| at + 3);
        PathBuf::from(format!("{}{}/{key}", &text[..scheme], self.bucket))
    }

    /// The store of the file. Each bucket has one store per kind of retries, so that connections are reused.
    ///
    /// # Errors
    /// If its settings in the environment are invalid.
    pub(crate) fn store(&self, retries: Retries) -> Result<Arc<dyn ObjectStore>> {
        static STORES: Mutex<Option<HashMap<String, Arc<dyn ObjectStore>>>> = Mutex::new(None);
        let mut stores = STORES.lock();
        let stores = stores.get_or_insert_default();
        requested_timeout()?;
        let name = format!("{:?} {retries:?} {}", self.scheme, self.bucket);
        if let Some(store) = stores.get(&name) {
            return Ok(Arc::clone(store));
        }
        let built = self.build(retries).map_err(|error| Error::io(&self.path, "open")(io_error(&error)))?;
        stores.insert(name, Arc::clone(&built));
        Ok(built)
    }

    fn build(&self, retries: Retries) -> object_store::Result<Arc<dyn ObjectStore>> {
        // Long files take long to transfer; each request has its own timeout while no bytes arrive.
        let options = ClientOptions::new().with_timeout_disabled().with_connect_timeout(Duration::from_secs(10));
        let backoff = BackoffConfig { max_backoff: Duration::from_secs(3), ..BackoffConfig::default() };
        let max_retries = if retries == Retries::Library { RETRIES } else { 0 };
        let retry = RetryConfig { backoff, max_retries, retry_timeout: Duration::from_secs(60) };
        let is_set = |names: &[&str]| names.iter().any(|name| std::env::var_os(name).is_some());
        Ok(match self.scheme {
            Scheme::S3 => {
                // The client options are set first: the environment may disable TLS.
                let mut builder = AmazonS3Builder::new().with_client_options(options);
                for (name, value) in std::env::vars_os() {
                    let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
                    if name.starts_with("AWS_")
                        && let Ok(key) = name.to_ascii_lowercase().parse()
                    {
                        builder = builder.with_config(key, value);
                    }
                }
                let builder = builder.with_bucket_name(&self.bucket).with_retry(retry);
                Arc::new(match is_set(&S3_CREDENTIALS) {
                    true => builder.build()?,
                    false => builder.with_skip_signature(true).build()?,
                })
            }
            Scheme::Gcs => {
                let builder = GoogleCloudStorageBuilder::from_env().with_client_options(options);
                let builder = builder.with_bucket_name(&self.bucket).with_retry(retry);
                Arc::new(match is_set(&GCS_CREDENTIALS) || has_google_login() {
                    true => builder.build()?,
                    false => builder.with_skip_signature(true).build()?,
                })
            }
            Scheme::Web => {
                let builder = HttpBuilder::new().with_url(&self.bucket).with_retry(retry);
                Arc::new(builder.with_client_options(options.with_allow_http(true)).build()?)
            }
        })
    }

    /// Advice for missing permissions.
    pub(crate) fn credentials_hint(&self) -> &'static str {
        match self.scheme {
            Scheme::S3 => {
                "credentials come from the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, \
                 AWS_REGION"
            }
            Scheme::Gcs => "credentials come from the environment: GOOGLE_APPLICATION_CREDENTIALS",
            Scheme::Web => "the address must be one that needs no login, such as a presigned one",
        }
    }
}

/// Whether the user has logged in with Google's command-line tool.
fn has_google_login() -> bool {
    let home = std::env::home_dir();
    home.is_some_and(|home| home.join(".config/gcloud/application_default_credentials.json").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        let parts = |text: &str| {
            let address = Address::parse(Path::new(text)).unwrap();
            (address.scheme, address.bucket, address.key.to_string())
        };
        assert_eq!(parts("s3://b/a/t.buren"), (Scheme::S3, "b".into(), "a/t.buren".into()));
        assert_eq!(parts("S3://b/x y?z#%41"), (Scheme::S3, "b".into(), "x y?z#%41".into()));
        assert_eq!(parts("gs://b"), (Scheme::Gcs, "b".into(), String::new()));
        let web = "https://example.org/a.csv?x=1";
        assert_eq!(parts(web), (Scheme::Web, web.into(), String::new()));
        for path in ["a.csv", "s3:/b/x", "https", "file:x", "-", "az://b/x"] {
            assert!(!is_address(Path::new(path)), "{path}");
        }
        for path in ["s3://", "s3:///x", "s3://b/a//b", "gs://b/../x"] {
            assert!(is_address(Path::new(path)));
            assert!(matches!(Address::parse(Path::new(path)), Err(Error::Usage(_))), "{path}");
        }
    }

    #[test]
    fn files_of_a_bucket_share_its_address() {
        let address = Address::parse(Path::new("s3a://b/t/*.csv")).unwrap();
        assert_eq!(address.of_key(&Key::from("t/1.csv")), Path::new("s3a://b/t/1.csv"));
    }
}
