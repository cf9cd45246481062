//! Computes the Pareto front of points whose two coordinates should both be small.

/// The indices of the points on the Pareto front: no other point is at most as large in both coordinates and smaller in
/// one. Sorted by the first coordinate; equal points are adjacent.
pub(crate) fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&one, &other| {
        let (one, other) = (points[one], points[other]);
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let mut front: Vec<usize> = Vec::new();
    for index in order {
        let beaten =
            front.last().is_some_and(|&last| points[last].1 <= points[index].1 && points[last] != points[index]);
        if !beaten {
            front.push(index);
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_front_goes_from_the_first_best_to_the_second() {
        let points = [(3.0, 1.0), (1.0, 3.0), (2.0, 2.0), (2.0, 3.0), (3.0, 3.0), (1.0, 4.0)];
        assert_eq!(front(&points), [1, 2, 0]);
        assert_eq!(front(&[]), [0; 0]);
        assert_eq!(front(&[(1.0, 1.0), (1.0, 1.0)]), [0, 1]);
    }

    proptest! {
        #[test]
        fn the_front_has_the_points_that_no_point_beats(points in prop::collection::vec((0u8..8, 0u8..8), 0..30)) {
            let points: Vec<(f64, f64)> = points.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).collect();
            let beats = |one: (f64, f64), other: (f64, f64)| one != other && one.0 <= other.0 && one.1 <= other.1;
            let mut found = front(&points);
            found.sort_unstable();
            let expected: Vec<usize> =
                (0..points.len()).filter(|&it| !points.iter().any(|&other| beats(other, points[it]))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
