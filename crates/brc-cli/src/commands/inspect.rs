//! `brc inspect`: shows how files are stored.

use crate::args::Source;
use crate::failure::{SUCCESS, code_of, worst};
use crate::inputs::expand;
use crate::{describe, printable, quantity, stdout};
use brc_core::{Error, decimal};
use brc_encodings::folders::FoundFile;
use brc_encodings::{Description, Fact};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file; - is standard input, and of a directory or a quoted 'part-*.buren' each file is shown
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print everything, down to each row group, as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = "\
Examples:
  brc inspect measurements.buren
  brc inspect measurements.buren --json | jq '.columns[].scheme'
  brc inspect sales/ --json | jq '.[] | [.file, .rows]'";

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let found = expand(std::slice::from_ref(&args.file))?;
    if let [file] = &found[..]
        && file.path == args.file
    {
        let description = args.describe(&file.path)?;
        let text = if args.json { describe::json(&description).into_bytes() } else { describe::text(&description) };
        stdout::print_names(&text)?;
        return Ok(SUCCESS);
    }
    Ok(code_of(|code| args.print_all(&found, code)))
}

impl Args {
    /// Describes all files. `code` is that of the files described so far.
    ///
    /// # Errors
    /// If standard output fails.
    fn print_all(&self, found: &[FoundFile], code: &mut Option<(u8, bool)>) -> Result<(), Error> {
        let mut shown = Vec::new();
        for file in found {
            match self.describe(&file.path) {
                Ok(mut description) => {
                    let name = file.path.display().to_string();
                    description.file.insert(0, ("file", name.as_str().into()));
                    if !self.json {
                        stdout::print_names(&[describe::text(&description), b"\n".to_vec()].concat())?;
                    }
                    shown.push(description);
                }
                Err(error) => *code = worst(*code, error),
            }
        }
        let text = if self.json { describe::json_array(&shown) } else { self.summary(found.len(), &shown) };
        stdout::print_names(text.as_bytes())
    }

    fn describe(&self, path: &Path) -> Result<Description, Error> {
        let (encoding, input) = self.source.input(path)?;
        encoding.describe(input, &self.source.open_options()?)
    }

    /// The totals of all files.
    fn summary(&self, found: usize, shown: &[Description]) -> String {
        let sum = |wanted: &str| {
            let of_file = |description: &Description| {
                let mut facts = description.file.iter();
                facts.find_map(|(name, fact)| match fact {
                    Fact::Count(count) | Fact::Bytes(count) if *name == wanted => Some(*count),
                    _ => None,
                })
            };
            shown.iter().map(of_file).sum::<Option<u64>>()
        };
        let rows = sum("rows").map(|rows| format!(", {}", decimal::counted(rows, "row"))).unwrap_or_default();
        let bytes = sum("bytes").map(|bytes| format!(", {}", quantity::bytes(bytes))).unwrap_or_default();
        let failed = match found - shown.len() {
            0 => String::new(),
            failed => format!(", {failed} not readable"),
        };
        let path = printable::line(self.file.as_os_str().as_encoded_bytes()).into_owned();
        format!("{path}: {}{rows}{bytes}{failed}\n", decimal::counted(found as u64, "file"))
    }
}
