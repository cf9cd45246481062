//! The smallest and the largest number of each column of a record batch, so that batches can be skipped.
//!
//! The format has no place for them. They are text among what a message says for whoever knows it, and under its checksum;
//! so they are believed in files of `brc` alone.

/// The key under which they are.
pub(super) const BOUNDS: &str = "brc.bounds";

/// Smallest and largest integer of each column; `None` where there are none.
pub(super) type Bounds = Vec<Option<(i128, i128)>>;

/// The bounds as text.
pub(super) fn to_text(bounds: &Bounds) -> String {
    let text = |bounds: &Option<(i128, i128)>| bounds.map_or(String::new(), |(min, max)| format!("{min}..{max}"));
    bounds.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Reads what [`to_text`] wrote; what is not of that form bounds nothing.
pub(super) fn from_text(text: &str) -> Bounds {
    let bounds = |text: &str| {
        let (min, max) = text.split_once("..")?;
        Some((min.parse().ok()?, max.parse().ok()?))
    };
    text.split(',').map(bounds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_round_trip() {
        for bounds in [vec![None, Some((-3, 5)), None, Some((i128::MIN, i128::MAX))], vec![Some((0, 0))], vec![None]] {
            assert_eq!(from_text(&to_text(&bounds)), bounds);
        }
        assert_eq!(from_text("x..1,1..,1...2,..3"), [None; 4]);
    }
}
