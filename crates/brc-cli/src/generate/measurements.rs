//! Tables of the One Billion Row Challenge: lines of station;temperature.

use super::names::{self, Station};
use super::rows::Rows;
use super::{Blocks, Preset, Shape};
use brc_core::{Error, Result};

/// A preset with a kind of stations.
pub(super) struct Measurements {
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    /// The default number of stations.
    stations: u64,
    /// The maximum number of stations.
    max_stations: u64,
    /// The standard deviation of its temperatures, in tenths of a degree.
    deviation: u16,
    make_stations: fn(count: usize, seed: u64) -> Vec<Station>,
}

pub(super) const REAL: Measurements = Measurements {
    name: "1brc",
    aliases: &["measurements"],
    about: "lines of station;temperature without a header: 413 real stations, equally likely, and temperatures with a standard \
            deviation of 10 degrees around the mean of each",
    stations: 413,
    max_stations: 413,
    deviation: 100,
    make_stations: names::real,
};

pub(super) const INVENTED: Measurements = Measurements {
    name: "1brc-10k",
    aliases: &[],
    about: "the same with 10,000 invented stations with names of 1 to 100 bytes in many scripts, standard deviation 7",
    stations: 10_000,
    max_stations: 1_000_000,
    deviation: 70,
    make_stations: names::invented,
};

impl Preset for Measurements {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn options(&self) -> &'static [&'static str] {
        &["stations"]
    }

    fn table(&self, shape: &Shape) -> Result<Box<dyn Blocks>> {
        let Self { name, max_stations, .. } = self;
        let stations = shape.stations.unwrap_or(self.stations);
        if !(1..=*max_stations).contains(&stations) {
            return Err(Error::Usage(format!("the preset {name} has 1 to {max_stations} stations")));
        }
        let stations = (self.make_stations)(stations as usize, shape.seed);
        Ok(Box::new(Rows::new(shape.seed, &stations, self.deviation)))
    }
}
