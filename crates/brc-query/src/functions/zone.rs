//! Time zones: how far their clocks are from UTC, and when.
//!
//! The rules of the IANA database are part of the program, so that a query has the same answer everywhere.

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// Two clocks differ by less than this many seconds.
const MAX_SECONDS_APART: i64 = 26 * 3600 * 2;

/// From 2100 on no zone changes its rules any more: offsets repeat as the calendar does, every 400 years.
const SAME_RULES: i64 = 4_102_444_800;
const CYCLE: i64 = 146_097 * 86_400;
const END_OF_CYCLE: i64 = SAME_RULES + CYCLE;

/// A time zone.
pub(super) struct Zone(TimeZone);

/// The distances of a zone from UTC in a span of time: from each of these seconds on, and how many seconds. Those after
/// the first cycle are those of that one.
pub(super) struct Offsets(Vec<(i64, i64)>);

/// The clock that the seconds to look up refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seconds {
    OfUtc,
    /// A clock of the zone. Of the two times that it shows when it is put back, the later one is meant; those that it
    /// leaves out when it is put forward are taken as if it were put forward later.
    OfZone,
}

impl Zone {
    /// The zone of that name, in upper or lower case.
    pub(super) fn named(name: &str) -> Option<Self> {
        TimeZoneDatabase::bundled().get(name).ok().map(Self)
    }

    /// The distances between two seconds of any year.
    pub(super) fn offsets(&self, low: i64, high: i64, seconds: Seconds) -> Offsets {
        let (low, high) = if high < END_OF_CYCLE { (low, high) } else { (low.min(SAME_RULES), END_OF_CYCLE) };
        let [low, high] =
            [low.saturating_sub(MAX_SECONDS_APART), high.saturating_add(MAX_SECONDS_APART)].map(|second| {
                // Before all years that the database knows, clocks were as in the first of them.
                Timestamp::from_second(second.max(Timestamp::MIN.as_second())).unwrap_or(Timestamp::MAX)
            });
        let start = |start: i64, offset: i64| match seconds {
            Seconds::OfUtc => start,
            Seconds::OfZone => start + offset,
        };
        let mut offsets = vec![(i64::MIN, self.0.to_offset(low).seconds().into())];
        for change in self.0.following(low).take_while(|change| change.timestamp() <= high) {
            let offset = change.offset().seconds().into();
            offsets.push((start(change.timestamp().as_second(), offset), offset));
        }
        Offsets(offsets)
    }
}

impl Offsets {
    /// The distance from UTC at a second. `last` is where the one before was found, near which it mostly is.
    pub(super) fn at(&self, second: i64, last: &mut usize) -> i64 {
        let second = if second < END_OF_CYCLE { second } else { SAME_RULES + (second - SAME_RULES) % CYCLE };
        let is_in = |index: usize| {
            let from = self.0.get(index).is_some_and(|(start, _)| *start <= second);
            from && self.0.get(index + 1).is_none_or(|(end, _)| second < *end)
        };
        if !is_in(*last) {
            *last = self.0.partition_point(|(start, _)| *start <= second).saturating_sub(1);
        }
        self.0.get(*last).map_or(0, |(_, offset)| *offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::DateTime;
    use jiff::tz::{AmbiguousOffset, Offset};
    use proptest::prelude::*;

    const ZONES: [&str; 8] = [
        "Europe/Oslo",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Africa/Casablanca",
        "America/St_Johns",
        "UTC",
    ];

    #[test]
    fn zones_are_found_by_name() {
        assert!(Zone::named("europe/oslo").is_some() && Zone::named("UTC").is_some());
        assert!(Zone::named("Europe/Atlantis").is_none() && Zone::named("").is_none());
    }

    #[test]
    fn offsets_are_known_at_all_times() {
        let zone = Zone::named("America/New_York").unwrap();
        for seconds in [Seconds::OfUtc, Seconds::OfZone] {
            let offsets = zone.offsets(i64::MIN, i64::MAX, seconds);
            let at = |second| offsets.at(second, &mut 0);
            let before_standard_time = -(4 * 3600 + 56 * 60 + 2);
            assert_eq!([at(i64::MIN), at(-377_705_203_200)], [before_standard_time; 2]);
            // The ends of the years 2499, 9999 and 99999; then the Julys of 2500 and 20000.
            assert_eq!([16_725_225_599, 253_402_300_799, 3_093_527_980_799].map(at), [-5 * 3600; 3]);
            assert_eq!([16_740_864_000, 568_987_000_000].map(at), [-4 * 3600; 2]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn offsets_are_those_of_the_database(
            zone in prop::sample::select(ZONES.to_vec()), low in prop_oneof![-5_000_000_000i64..9_000_000_000, 9_000_000_000i64..253_000_000_000], span in 0i64..400_000_000,
            places in prop::collection::vec(0f64..1.0, 100),
        ) {
            let zone = Zone::named(zone).unwrap();
            let [of_utc, of_zone] = [Seconds::OfUtc, Seconds::OfZone].map(|it| zone.offsets(low, low + span, it));
            // Right at each change and beside it, and anywhere.
            let around = of_utc.0[1..].iter().chain(&of_zone.0[1..]).flat_map(|(start, _)| [-1, 0, 1, 1800].map(|by| start + by));
            let anywhere = places.iter().map(|place| low + (span as f64 * place) as i64);
            let mut last = [0, 0];
            for second in around.chain(anywhere).filter(|second| (low..=low + span).contains(second)) {
                let timestamp = Timestamp::from_second(second).unwrap();
                let expected = zone.0.to_offset(timestamp).seconds();
                prop_assert_eq!(of_utc.at(second, &mut last[0]), i64::from(expected));
                let local: DateTime = Offset::UTC.to_datetime(timestamp);
                let expected = match zone.0.to_ambiguous_timestamp(local).offset() {
                    AmbiguousOffset::Unambiguous { offset } => offset,
                    AmbiguousOffset::Gap { before, .. } => before,
                    AmbiguousOffset::Fold { after, .. } => after,
                };
                prop_assert_eq!(of_zone.at(second, &mut last[1]), i64::from(expected.seconds()), "{}", local);
            }
        }
    }
}
