//! Passes errors of brc through a cluster, which transmits only texts, quoted in its own ways.

use brc_cli::embedding;
use brc_compare::Failure;
use brc_core::{Error, UnsupportedReason};
use datafusion::error::DataFusionError;

/// The delimiters of an encoded error.
const BEGIN: &str = "brc says <<";
const END: &str = ">>";

/// Characters that quoting would change, and `%`, with their escapes.
const QUOTED: [(char, &str); 6] =
    [('%', "%25"), ('"', "%22"), ('\\', "%5C"), ('\n', "%0A"), ('>', "%3E"), ('\'', "%27")];

/// The error of brc within an error of DataFusion.
#[must_use]
pub fn own_error(error: &DataFusionError) -> Option<&Error> {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = source {
        if let Some(own) = inner.downcast_ref::<Error>() {
            return Some(own);
        }
        source = match inner.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::Shared(shared)) => Some(shared.as_ref()),
            _ => inner.source(),
        };
    }
    None
}

/// The message, hints and exit code of an error of brc.
#[must_use]
pub fn failure_of(error: &Error) -> Failure {
    let mut failure = embedding::failure(error);
    if matches!(error, Error::UnsupportedValue(value) if value.fault == UnsupportedReason::NotUtf8) {
        failure.hints = vec!["--strings-as-binary reads columns of strings as binary".to_owned()];
    }
    failure
}

/// Encodes an error as a text that [`decode_failure`] finds whatever surrounds it.
pub(crate) fn encode_error(error: DataFusionError) -> DataFusionError {
    let failure = match own_error(&error) {
        Some(own) => failure_of(own),
        None => Failure::new(error.strip_backtrace()),
    };
    let lines = [failure.code.to_string(), failure.message].into_iter().chain(failure.hints);
    let text = lines.collect::<Vec<_>>().join("\n");
    let quoted = text.chars().map(|character| match QUOTED.iter().find(|(known, _)| *known == character) {
        Some((_, quoted)) => (*quoted).to_owned(),
        None => character.to_string(),
    });
    DataFusionError::Execution(format!("{BEGIN}{}{END}", quoted.collect::<String>()))
}

/// Decodes the error of an executor or scheduler in a text, if there is one.
#[must_use]
pub fn decode_failure(text: &str) -> Option<Failure> {
    let (_, text) = text.split_once(BEGIN)?;
    let (text, _) = text.split_once(END)?;
    // The escape of `%` is replaced last, since it is part of the others.
    let whole = QUOTED
        .iter()
        .rev()
        .fold(text.to_owned(), |text, (character, quoted)| text.replace(quoted, character.encode_utf8(&mut [0; 4])));
    let mut lines = whole.split('\n').map(str::to_owned);
    let code = lines.next()?.parse().ok()?;
    Some(Failure { code, hints: lines.clone().skip(1).collect(), ..Failure::new(lines.next()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_errors_survive_quoting() {
        for message in ["plain", "a \"b\"\\c >> 'd' %22 %2522\nhint <é>", "brc says <<"] {
            let text = encode_error(DataFusionError::External(Box::new(Error::Usage(message.into()))));
            for text in [text.to_string(), format!("Job 1 failed: {:?}", format!("{text:?}"))] {
                let failure = decode_failure(&text).unwrap();
                assert_eq!([vec![failure.message], failure.hints].concat().join("\n"), message, "{text}");
                assert_eq!(failure.code, 2);
            }
        }
        assert!(decode_failure("brc says nothing").is_none());
    }
}
