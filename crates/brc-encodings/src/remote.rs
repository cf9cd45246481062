//! Files on other machines: files in object stores and on web servers are read in place; for other addresses the error
//! says how to fetch the file.

use crate::folders::FoundFile;
use crate::input::Input;
use brc_core::{Error, ReadAt, Result};
use std::path::Path;
use std::sync::Arc;

/// The prefix of an address, and a program that writes such a file to standard output.
const FETCHED_BY: [(&str, &str); 9] = [
    ("http://", "curl -sL 'URL'"),
    ("https://", "curl -sL 'URL'"),
    ("ftp://", "curl -s 'URL'"),
    ("s3://", "aws s3 cp 'URL' -"),
    ("s3a://", "aws s3 cp 'URL' -"),
    ("gs://", "gcloud storage cat 'URL'"),
    ("gcs://", "gcloud storage cat 'URL'"),
    ("az://", "azcopy copy 'URL' --from-to BlobPipe"),
    ("abfss://", "azcopy copy 'URL' --from-to BlobPipe"),
];

/// Whether a path is the address of a file in a supported store.
#[must_use]
pub fn is_in_store(path: &Path) -> bool {
    #[cfg(feature = "stores")]
    let is_address = brc_store::is_address(path);
    #[cfg(not(feature = "stores"))]
    let is_address = false;
    is_address && !path.exists()
}

/// Opens a file in a store; `None` if the path is local.
///
/// # Errors
/// [`Error::Usage`] if the address is not supported; the store's.
pub(crate) fn open(path: &Path) -> Result<Option<Input>> {
    #[cfg(feature = "stores")]
    if is_in_store(path) {
        return stores::open(path).map(Some);
    }
    refuse_address(path).map(|()| None)
}

/// A file in a store with random access; `None` if it can only be read as a whole.
///
/// # Errors
/// As for [`open`].
pub(crate) fn object(path: &Path) -> Result<Option<Arc<dyn ReadAt>>> {
    #[cfg(feature = "stores")]
    return stores::object(path);
    #[cfg(not(feature = "stores"))]
    refuse_address(path).map(|()| None)
}

/// The files of an address of a file, a directory or a pattern in a store; `None` if the path is local.
///
/// # Errors
/// [`Error::Usage`] if the address is not supported, or there is no such file; the store's.
pub fn found(path: &Path) -> Result<Option<Vec<FoundFile>>> {
    #[cfg(feature = "stores")]
    if is_in_store(path) {
        return stores::found(path).map(Some);
    }
    refuse_address(path).map(|()| None)
}

/// Rejects an unsupported address, and says what to do instead.
fn refuse_address(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let is_one = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let Some((scheme, command)) = FETCHED_BY.iter().find(|(scheme, _)| is_one(scheme)).filter(|_| !path.exists())
    else {
        return Ok(());
    };
    let command = command.replace("URL", &text);
    let hint = format!("brc does not read {scheme} addresses; download the file first");
    Err(Error::Usage(format!("{text}: {hint}: {command} | brc query - …")))
}

#[cfg(feature = "stores")]
mod stores {
    use super::{Arc, Error, FoundFile, Input, Path, ReadAt, Result};
    use crate::encoding::Encoding;
    use crate::input_file::InputFile;
    use crate::registry;
    use brc_store::{Address, InOrder, Object};

    /// Opens a file: with random access if its encoding needs few of its bytes, else in order.
    pub(super) fn open(path: &Path) -> Result<Input> {
        let address = Address::parse(path)?;
        let is_named = registry::by_extension(path).is_some_and(<dyn Encoding>::reads_parts);
        if is_named
            && registry::compression_by_extension(path).is_none()
            && let Some(input) = open_object(path, &address)?
        {
            return Ok(input);
        }
        let input = Input::from_stream(path.to_owned(), Box::new(InOrder::open(&address)?))?;
        let is_seen = input.compression.is_none()
            && !input.is_whole
            && registry::for_input(&input).is_ok_and(<dyn Encoding>::reads_parts);
        match is_seen {
            true => Ok(open_object(path, &address)?.unwrap_or(input)),
            false => Ok(input),
        }
    }

    fn open_object(path: &Path, address: &Address) -> Result<Option<Input>> {
        let object = object_at(address)?.map(InputFile::from);
        object.map(|object| Input::in_store(path.to_owned(), object)).transpose()
    }

    /// Opens a file with random access.
    pub(super) fn object(path: &Path) -> Result<Option<Arc<dyn ReadAt>>> {
        object_at(&Address::parse(path)?)
    }

    fn object_at(address: &Address) -> Result<Option<Arc<dyn ReadAt>>> {
        Ok(Object::open(address)?.map(|object| Arc::new(object) as Arc<dyn ReadAt>))
    }

    pub(super) fn found(path: &Path) -> Result<Vec<FoundFile>> {
        if !brc_store::is_pattern(path) {
            return Ok(vec![FoundFile::named(path)]);
        }
        let directory = brc_store::pattern_directory(path);
        let files = brc_store::matches(path)?;
        if files.is_empty() {
            return Err(Error::Usage(format!("{}: no file matches this pattern", path.display())));
        }
        files.into_iter().map(|file| FoundFile::below(&directory, file)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_how_to_fetch_an_address() {
        for (address, command) in [
            ("ftp://example.org/a.csv", "curl -s 'ftp://example.org/a.csv' | brc query - …"),
            ("AZ://bucket/a.parquet", "azcopy copy 'AZ://bucket/a.parquet' --from-to BlobPipe | brc query - …"),
        ] {
            let error = found(Path::new(address)).unwrap_err();
            assert!(matches!(error, Error::Usage(_)) && error.to_string().ends_with(command), "{error}");
        }
        for path in ["a.csv", "https", "s3:/x", "file:x", "-"] {
            assert!(found(Path::new(path)).unwrap().is_none());
            assert!(!is_in_store(Path::new(path)));
        }
    }

    #[cfg(feature = "stores")]
    #[test]
    fn store_addresses_are_recognised() {
        let path = Path::new("s3://bucket/t.buren");
        assert!(is_in_store(path));
        assert_eq!(found(path).unwrap().unwrap(), [FoundFile::named(path)]);
    }
}
