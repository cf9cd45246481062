//! Where a file is: which store, and what it is called there.

use crate::failure::io_error;
use brc_core::{Error, Result};
use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path as Key;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How an address begins.
const SCHEMES: [(&str, Scheme); 5] = [
    ("s3://", Scheme::S3),
    ("s3a://", Scheme::S3),
    ("gs://", Scheme::Gcs),
    ("http://", Scheme::Web),
    ("https://", Scheme::Web),
];

/// Where the environment has credentials for Amazon S3. Without any of them requests are not signed, as public buckets want it.
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

/// Who tries a request again that a server answers with an error of its own, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retries {
    /// Whoever asks: so that each request is counted, and what came is held against what should have.
    Ours,
    /// The library.
    Library,
}

/// How often the library does.
const RETRIES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    S3,
    Gcs,
    Web,
}

/// A file in a store, or what a pattern of files begins with.
#[derive(Debug, Clone)]
pub struct Address {
    /// As the user wrote it, for messages.
    pub(crate) path: PathBuf,
    pub(crate) scheme: Scheme,
    /// With the scheme: of a web server the whole address.
    pub(crate) bucket: String,
    /// What the file is called there; nothing on a web server.
    pub(crate) key: Key,
}

/// Whether a path is an address of a file in a store.
#[must_use]
pub fn is_address(path: &Path) -> bool {
    path.to_str().and_then(scheme).is_some()
}

/// The scheme of an address, and the rest of it.
fn scheme(text: &str) -> Option<(Scheme, &str)> {
    SCHEMES.iter().find_map(|(name, scheme)| {
        let start = text.get(..name.len())?;
        start.eq_ignore_ascii_case(name).then(|| (*scheme, &text[name.len()..]))
    })
}

impl Address {
    /// Takes an address apart.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is none, or names no bucket.
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

    /// The path of another file of the same bucket.
    pub(crate) fn of_key(&self, key: &Key) -> PathBuf {
        let text = self.path.to_string_lossy();
        let scheme = text.find("://").map_or(0, |at| at + 3);
        PathBuf::from(format!("{}{}/{key}", &text[..scheme], self.bucket))
    }

    /// The store that has the file. Those of a bucket are one for each kind of retries, which keeps connections.
    ///
    /// # Errors
    /// If what the environment says of it makes no sense.
    pub(crate) fn store(&self, retries: Retries) -> Result<Arc<dyn ObjectStore>> {
        static STORES: Mutex<Option<HashMap<String, Arc<dyn ObjectStore>>>> = Mutex::new(None);
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let stores = stores.get_or_insert_default();
        let name = format!("{:?} {retries:?} {}", self.scheme, self.bucket);
        if let Some(store) = stores.get(&name) {
            return Ok(Arc::clone(store));
        }
        let built = self.build(retries).map_err(|error| Error::io(&self.path, "open")(io_error(&error)))?;
        stores.insert(name, Arc::clone(&built));
        Ok(built)
    }

    fn build(&self, retries: Retries) -> object_store::Result<Arc<dyn ObjectStore>> {
        // A long file takes long; that nothing comes is watched request by request.
        let options = ClientOptions::new().with_timeout_disabled().with_connect_timeout(Duration::from_secs(10));
        let backoff = BackoffConfig { max_backoff: Duration::from_secs(3), ..BackoffConfig::default() };
        let max_retries = if retries == Retries::Library { RETRIES } else { 0 };
        let retry = RetryConfig { backoff, max_retries, retry_timeout: Duration::from_secs(60) };
        let is_set = |names: &[&str]| names.iter().any(|name| std::env::var_os(name).is_some());
        Ok(match self.scheme {
            Scheme::S3 => {
                // The options of the client go first: the environment may say that it is to go without TLS.
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

    /// What to do about missing rights.
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

/// Whether the user has logged in with Google's own program.
fn has_google_login() -> bool {
    let home = std::env::home_dir();
    home.is_some_and(|home| home.join(".config/gcloud/application_default_credentials.json").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
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
    fn other_files_of_a_bucket_have_its_address() {
        let address = Address::parse(Path::new("s3a://b/t/*.csv")).unwrap();
        assert_eq!(address.of_key(&Key::from("t/1.csv")), Path::new("s3a://b/t/1.csv"));
    }
}
