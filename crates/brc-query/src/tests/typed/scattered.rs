//! Partials that several processes merge, each those of some groups.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn scattered_groups_travel_and_merge_in_any_order(
        rows in rows(40),
        question in Question::any(),
        delivery in delivery(),
        ends in prop::collection::vec(0usize..40, 0..4),
        (partitions, salt) in (1usize..6, any::<u64>()),
        groups_in_chunk in 1usize..5,
        order in any::<prop::sample::Index>(),
    ) {
        let Some(expected) = question.answer(&rows) else { return Ok(()) };
        let plan = question.plan();
        let partial = |rows: &[Vec<Cell>]| {
            plan.partial(&table(rows, delivery), 2, &Progress::default()).unwrap().0
        };
        let mut ends: Vec<usize> = ends.into_iter().map(|end| end.min(rows.len())).chain([0, rows.len()]).collect();
        ends.sort_unstable();
        let parts = ends.windows(2).map(|part| partial(&rows[part[0]..part[1]]));
        let mut sent: Vec<(usize, Vec<u8>)> = Vec::new();
        for (partition, groups) in parts.flat_map(|part| part.scatter(partitions, salt)) {
            prop_assert!(partition < partitions);
            for chunk in groups.chunks(groups_in_chunk) {
                prop_assert!(chunk.groups() <= groups_in_chunk);
                sent.push((partition, bincode::serialize(&chunk).unwrap()));
            }
        }
        let middle = order.index(sent.len().max(1));
        sent.rotate_left(middle);
        let mut merged: BTreeMap<usize, Partial> = BTreeMap::new();
        for (partition, bytes) in &sent {
            let received: Partial = bincode::deserialize(bytes).unwrap();
            match merged.get_mut(partition) {
                Some(known) => known.merge(received).unwrap(),
                None => _ = merged.insert(*partition, received),
            }
        }
        let groups: u64 = merged.values().map(Partial::groups_with_rows).sum();
        prop_assert_eq!(groups, partial(&rows).groups_with_rows(), "each group is in one partition");
        let answer = plan.answer(merged.clone().into_values(), 1, Default::default()).unwrap();
        prop_assert!(same(&cells(&answer), &expected), "{:?}\n{:?}", cells(&answer), expected);
        let answer = plan.answer(merged.into_values().rev(), 2, Default::default()).unwrap();
        prop_assert!(same(&cells(&answer), &expected), "{:?}\n{:?}", cells(&answer), expected);
    }
}

/// A partitioner that agrees with the hash of a table, or with itself at another number of partitions, would fill few
/// of them.
#[test]
fn partitions_are_about_equal() {
    let column = column_of("n");
    let rows: Vec<_> = (0..100).map(|n| row(&[(column, Cell::Integer(n))])).collect();
    let query = Query { by: Some(Expression::parse_list("n").unwrap()), ..Query::default() };
    let plan = query.plan(&schema()).unwrap();
    let table = table(&rows, Delivery { split_rows: 50, batch_rows: 10, ..PLAIN });
    let (partial, _) = plan.partial(&table, 1, &Progress::default()).unwrap();
    for salt in 0..5 {
        for (_, half) in partial.clone().scatter(2, salt) {
            let quarters: Vec<usize> = half.scatter(2, salt + 100).iter().map(|(_, groups)| groups.groups()).collect();
            assert!(quarters.len() == 2 && quarters.iter().all(|groups| (10..=40).contains(groups)), "{quarters:?}");
        }
    }
}
