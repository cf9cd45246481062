//! `brc generate`: makes a test table.

use crate::args::Threads;
use crate::generate::{Order, PRESETS, Preset, generate};
use crate::progress::{Total, watch};
use crate::quantity;
use brc_core::Progress;
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

    /// What kind of table
    #[arg(long, value_name = "NAME", default_value = "1brc", value_parser = preset())]
    preset: &'static Preset,

    /// How many rows: digits, with k, M, G or B for thousands, millions, billions
    #[arg(long, value_name = "N", default_value = "1M", value_parser = quantity::parse_count)]
    rows: u64,

    /// How many stations [default: what the preset has]
    #[arg(long, value_name = "N", value_parser = quantity::parse_count)]
    stations: Option<u64>,

    /// What the random numbers start from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    threads: Threads,

    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
}

const AFTER_HELP: &str = "\
The file is not synced to the disk: it can be made again.

Examples:
  brc generate measurements.txt --rows 1B
  brc generate many-names.txt --preset 1brc-10k --rows 100M
  brc generate - --rows 10 --stations 3 --seed 42";

fn preset() -> impl TypedValueParser<Value = &'static Preset> {
    let values = PRESETS.iter().map(|preset| PossibleValue::new(preset.name).help(preset.about));
    PossibleValuesParser::new(values).try_map(|name| {
        PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| format!("unknown preset {name}"))
    })
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let stations = args.stations.map_or(args.preset.stations, |count| usize::try_from(count).unwrap_or(usize::MAX));
    let order =
        Order { preset: args.preset, rows: args.rows, stations, seed: args.seed, threads: args.threads.count() };
    brc_encodings::check_compression_name(&args.output, None)?;
    crate::interrupt::clean_up_when_killed();
    let options = OutputOptions { force: args.force, ..OutputOptions::default() };
    let output = Output::create(&args.output, &options)?;
    let progress = Progress::default();
    let bytes = watch(&progress, Total::Rows(args.rows), || generate(&order, output, &progress))?;
    let seconds = start.elapsed().as_secs_f64();
    let (rows, size, speed) = (quantity::count(args.rows), quantity::bytes(bytes), bytes as f64 / 1e6 / seconds);
    eprintln!("{rows} rows, {size} in {seconds:.2} s ({speed:.0} MB/s)");
    Ok(())
}
