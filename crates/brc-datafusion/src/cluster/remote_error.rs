//! Errors of brc on their way through a cluster, where only texts arrive, and these are written as the engine likes.

use brc_cli::embedding;
use brc_compare::Failure;
use brc_core::{Error, UnsupportedReason};
use datafusion::error::DataFusionError;

/// What an error of brc stands between.
const BEGIN: &str = "brc says <<";
const END: &str = ">>";

/// Characters that texts in quotes have other ones for, and `%`, which stands for these.
const QUOTED: [(char, &str); 6] =
    [('%', "%25"), ('"', "%22"), ('\\', "%5C"), ('\n', "%0A"), ('>', "%3E"), ('\'', "%27")];

/// The error of brc that is somewhere in an error of DataFusion.
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

/// What is said of an error of brc.
#[must_use]
pub fn failure_of(error: &Error) -> Failure {
    let mut failure = embedding::failure(error);
    if matches!(error, Error::UnsupportedValue(value) if value.fault == UnsupportedReason::NotUtf8) {
        failure.hints = vec!["--strings-as-binary reads columns of strings as binary".to_owned()];
    }
    failure
}

/// The same error, as a text that [`heard`] finds whatever it is put into.
pub(crate) fn told(error: DataFusionError) -> DataFusionError {
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

/// What an executor or a scheduler told, if it stands in that text.
#[must_use]
pub fn heard(text: &str) -> Option<Failure> {
    let (_, told) = text.split_once(BEGIN)?;
    let (told, _) = told.split_once(END)?;
    // The first one stands for a character of the others.
    let whole = QUOTED
        .iter()
        .rev()
        .fold(told.to_owned(), |text, (character, quoted)| text.replace(quoted, character.encode_utf8(&mut [0; 4])));
    let mut lines = whole.split('\n').map(str::to_owned);
    let code = lines.next()?.parse().ok()?;
    Some(Failure { code, hints: lines.clone().skip(1).collect(), ..Failure::new(lines.next()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_heard_however_it_is_quoted() {
        for message in ["plain", "a \"b\"\\c >> 'd' %22 %2522\nhint <é>", "brc says <<"] {
            let told = told(DataFusionError::External(Box::new(Error::Usage(message.into()))));
            for text in [told.to_string(), format!("Job 1 failed: {:?}", format!("{told:?}"))] {
                let heard = heard(&text).unwrap();
                assert_eq!([vec![heard.message], heard.hints].concat().join("\n"), message, "{text}");
                assert_eq!(heard.code, 2);
            }
        }
        assert!(heard("brc says nothing").is_none());
    }
}
