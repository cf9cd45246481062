//! URLs, which brc does not fetch itself.

use brc_core::{Error, Result};
use std::path::Path;

/// How the beginning of an address is spelt, and what writes such a file to standard output.
const FETCHED_BY: [(&str, &str); 8] = [
    ("http://", "curl -sL 'URL'"),
    ("https://", "curl -sL 'URL'"),
    ("ftp://", "curl -s 'URL'"),
    ("s3://", "aws s3 cp 'URL' -"),
    ("gs://", "gcloud storage cat 'URL'"),
    ("gcs://", "gcloud storage cat 'URL'"),
    ("az://", "azcopy copy 'URL' --from-to BlobPipe"),
    ("abfss://", "azcopy copy 'URL' --from-to BlobPipe"),
];

/// Says what to do with an address of a file that is on another machine.
///
/// # Errors
/// [`Error::Usage`] if the path is one, and no local file.
pub fn refuse_address(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let is_one = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let Some((_, command)) = FETCHED_BY.iter().find(|(scheme, _)| is_one(scheme)).filter(|_| !path.exists()) else {
        return Ok(());
    };
    let command = command.replace("URL", &text);
    let hint = "brc reads local files and pipes; download it first";
    Err(Error::Usage(format!("{text}: {hint}: {command} | brc query - …")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_how_to_fetch_them() {
        for (address, command) in [
            ("https://example.org/a.csv?x=1", "curl -sL 'https://example.org/a.csv?x=1' | brc query - …"),
            ("S3://bucket/a.parquet", "aws s3 cp 'S3://bucket/a.parquet' - | brc query - …"),
            ("gs://bucket/*.csv", "gcloud storage cat 'gs://bucket/*.csv' | brc query - …"),
        ] {
            let error = refuse_address(Path::new(address)).unwrap_err();
            assert!(matches!(error, Error::Usage(_)) && error.to_string().ends_with(command), "{error}");
        }
        for path in ["a.csv", "https", "s3:/x", "file:x", "-"] {
            refuse_address(Path::new(path)).unwrap();
        }
    }
}
