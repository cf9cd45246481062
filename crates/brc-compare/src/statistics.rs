//! Summary statistics of repeated samples.

/// A summary of samples, in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) runs: usize,
    pub(crate) median: f64,
    /// Half the width of the notch of a box plot: medians whose notches do not overlap differ at about 95 % confidence.
    /// Unlike the confidence interval of the mean, it is not widened by an outlier. 0 for a single sample.
    pub(crate) median_margin: f64,
    pub(crate) mean: f64,
    /// Half the width of the 95 % confidence interval of the mean; `None` for a single sample.
    pub(crate) confidence: Option<f64>,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The number of outliers: the machine may have been busy.
    pub(crate) outliers: usize,
}

/// The half-width of a notch, in interquartile ranges divided by the square root of the number of samples (McGill,
/// Tukey and Larsen, 1978).
const NOTCH: f64 = 1.57;

impl Summary {
    /// Summarises samples; `None` if there are none.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let (min, max) = (samples.iter().copied().reduce(f64::min)?, samples.iter().copied().reduce(f64::max)?);
        let runs = samples.len();
        let mean = samples.iter().sum::<f64>() / runs as f64;
        let confidence = (runs > 1).then(|| {
            let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
            let deviation = (squares / (runs - 1) as f64).sqrt();
            student_t(runs - 1) * deviation / (runs as f64).sqrt()
        });
        let median = median(samples);
        let median_margin = NOTCH * (quantile(samples, 0.75) - quantile(samples, 0.25)) / (runs as f64).sqrt();
        Some(Self { runs, median, median_margin, mean, confidence, min, max, outliers: outliers(samples, median) })
    }
}

/// The median of samples; 0 if there are none.
pub(crate) fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// The quantile of samples at `share` from 0 to 1, linearly interpolated; 0 if there are none.
fn quantile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = share * sorted.len().saturating_sub(1) as f64;
    let lower = position as usize;
    match (sorted.get(lower), sorted.get(lower + 1)) {
        (Some(lower), Some(upper)) => lower + (upper - lower) * position.fract(),
        (Some(lower), None) => *lower,
        (None, _) => 0.0,
    }
}

/// The number of samples with a modified z-score above 10: their distance from the median, in units of the scaled
/// median absolute deviation. 0 for fewer than `MIN_SAMPLES` samples.
fn outliers(samples: &[f64], middle: f64) -> usize {
    const MIN_SAMPLES: usize = 5;
    /// Scales the median absolute deviation of normally distributed samples to their standard deviation.
    const NORMAL: f64 = 1.4826;
    /// The smallest deviation, relative to the median: very close samples must not make others outliers.
    const MIN_RELATIVE_DEVIATION: f64 = 0.01;
    if samples.len() < MIN_SAMPLES {
        return 0;
    }
    let deviations: Vec<f64> = samples.iter().map(|sample| (sample - middle).abs()).collect();
    let usual = (median(&deviations) * NORMAL).max(middle.abs() * MIN_RELATIVE_DEVIATION);
    deviations.iter().filter(|&&deviation| deviation > 10.0 * usual).count()
}

/// The 97.5 % quantile of Student's t distribution, which bounds the central 95 %.
fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match freedom.checked_sub(1).and_then(|index| TABLE.get(index)) {
        Some(quantile) => *quantile,
        // The first terms of the expansion around the normal quantile: exact to three digits from here on.
        None => {
            let (z, n) = (1.959_964_f64, freedom.max(1) as f64);
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_samples_have_known_summaries() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((summary.runs, summary.median, summary.mean), (8, 4.5, 5.0));
        assert_eq!((summary.min, summary.max, summary.outliers), (2.0, 9.0, 0));
        // The standard deviation is sqrt(32 / 7), the quantile for 7 degrees of freedom 2.365.
        let expected = 2.365 * (32.0_f64 / 7.0).sqrt() / 8.0_f64.sqrt();
        assert!((summary.confidence.unwrap() - expected).abs() < 1e-12);
        assert_eq!(Summary::of(&[]), None);
        assert!((summary.median_margin - 1.57 * 1.5 / 8.0_f64.sqrt()).abs() < 1e-12);
        let far_out = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 900.0]).unwrap();
        assert_eq!(far_out.median_margin, summary.median_margin);
        let one = Summary::of(&[3.0]).unwrap();
        assert_eq!((one.median, one.mean, one.confidence, one.outliers), (3.0, 3.0, None, 0));
    }

    #[test]
    fn the_median_does_not_need_sorted_samples() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&[9.0, 1.0, 5.0, 2.0]), 3.5);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn outliers_are_counted() {
        assert_eq!(Summary::of(&[10.0, 10.1, 9.9, 10.2, 9.8, 30.0]).unwrap().outliers, 1);
        assert_eq!(Summary::of(&[10.0, 10.1, 9.9, 10.2, 9.8, 11.0]).unwrap().outliers, 0);
        assert_eq!(Summary::of(&[5.0, 5.0, 5.0, 5.0, 5.4]).unwrap().outliers, 0);
        assert_eq!(Summary::of(&[5.0, 5.0, 5.0, 5.0, 6.0]).unwrap().outliers, 1);
        assert_eq!(Summary::of(&[5.0, 5.0, 6.0]).unwrap().outliers, 0);
    }

    #[test]
    fn student_t_matches_published_tables() {
        for (freedom, quantile) in [(1, 12.706), (10, 2.228), (30, 2.042), (31, 2.040), (60, 2.000), (120, 1.980)] {
            assert!((student_t(freedom) - quantile).abs() < 0.001, "{freedom}: {}", student_t(freedom));
        }
    }
}
