//! `brc generate`: generates a test table.

use crate::args::Threads;
use crate::generate::{PRESETS, Preset, Shape, generate};
use crate::progress::{Total, watch};
use crate::quantity;
use brc_core::Progress;
use brc_core::decimal::counted;
use brc_encodings::{Output, OutputOptions};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file to write; - is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The kind of table
    #[arg(long, value_name = "NAME", default_value = "1brc", value_parser = preset())]
    preset: &'static dyn Preset,

    /// The number of rows; k, M, G or B stand for thousands, millions and billions
    #[arg(long, value_name = "N", default_value = "1M", value_parser = quantity::parse_count)]
    rows: u64,

    /// The number of stations [default: that of the preset]
    #[arg(long, value_name = "N", value_parser = quantity::parse_count)]
    stations: Option<u64>,

    /// The number of groups of the frequent ids of g1 [default: 100]
    #[arg(long, value_name = "K", value_parser = quantity::parse_count)]
    groups: Option<u64>,

    /// The percentage of nulls in g1 [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = quantity::parse_count)]
    nulls: Option<u64>,

    /// Sort the rows of g1 by its ids
    #[arg(long)]
    sorted: bool,

    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    threads: Threads,

    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

const AFTER_HELP: &str = "\
The file is not synced to disk, since it can be generated again.

Examples:
  brc generate measurements.txt --rows 1B
  brc generate many-names.txt --preset 1brc-10k --rows 100M
  brc generate - --rows 10 --stations 3 --seed 42
  brc generate visits.csv --preset uservisits --rows 10M
  brc generate G1_1e8_1e2_5_0.csv --preset g1 --rows 100M --groups 100 --nulls 5";

fn preset() -> impl TypedValueParser<Value = &'static dyn Preset> {
    let value =
        |preset: &&'static dyn Preset| PossibleValue::new(preset.name()).aliases(preset.aliases()).help(preset.about());
    PossibleValuesParser::new(PRESETS.iter().map(value)).try_map(|name| {
        let is_it = |preset: &&&'static dyn Preset| preset.name() == name || preset.aliases().contains(&name.as_str());
        PRESETS.iter().find(is_it).copied().ok_or_else(|| format!("unknown preset {name}"))
    })
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let Args { rows, seed, stations, groups, nulls, sorted, .. } = *args;
    let shape = Shape { rows, seed, stations, groups, nulls, sorted };
    brc_encodings::check_text_name(&args.output)?;
    crate::interrupt::clean_up_when_killed();
    let options = OutputOptions { force: args.force, ..OutputOptions::default() };
    let output = Output::create(&args.output, &options)?;
    let progress = Progress::default();
    let bytes = watch(&progress, Total::Rows(args.rows), || {
        generate(args.preset, &shape, args.threads.count(), output, &progress)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let (rows, size, speed) = (counted(args.rows, "row"), quantity::bytes(bytes), bytes as f64 / 1e6 / seconds);
    message!("{rows}, {size} in {seconds:.2} s ({speed:.0} MB/s)");
    Ok(())
}
