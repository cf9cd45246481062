//! Decides whether output is coloured: on a terminal, unless the user or the environment says otherwise.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

static WHEN: OnceLock<When> = OnceLock::new();

/// Stores the choice of the user.
pub(crate) fn choose(when: When) {
    // This is called once, before anything is printed.
    let _ = WHEN.set(when);
}

/// Whether to colour standard output.
pub(crate) fn of_stdout() -> bool {
    let when = WHEN.get().copied().unwrap_or(When::Auto);
    is_wanted(when, std::io::stdout().is_terminal(), |name| std::env::var_os(name))
}

/// See <https://no-color.org> and <https://bixense.com/clicolors>.
fn is_wanted(when: When, is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is_on = |name: &str| given(name).is_some_and(|value| value != "0");
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if given("NO_COLOR").is_some() => false,
        When::Auto if is_on("CLICOLOR_FORCE") => true,
        When::Auto => {
            let is_off = given("CLICOLOR").is_some_and(|value| value == "0");
            is_terminal && !is_off && given("TERM").is_none_or(|terminal| terminal != "dumb")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_overrides_the_environment() {
        let wanted = |when, is_terminal, variables: &[(&str, &str)]| {
            is_wanted(when, is_terminal, |name| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).into())
            })
        };
        assert!(wanted(When::Auto, true, &[]) && !wanted(When::Auto, false, &[]));
        assert!(!wanted(When::Auto, true, &[("NO_COLOR", "0")]) && wanted(When::Auto, true, &[("NO_COLOR", "")]));
        assert!(wanted(When::Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!wanted(When::Auto, false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!wanted(When::Auto, true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!wanted(When::Auto, true, &[("CLICOLOR", "0")]) && !wanted(When::Auto, true, &[("TERM", "dumb")]));
        assert!(wanted(When::Always, false, &[("NO_COLOR", "1")]));
        assert!(!wanted(When::Never, true, &[("CLICOLOR_FORCE", "1")]));
    }
}
