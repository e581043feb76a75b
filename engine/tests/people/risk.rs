//! Risk and attacks, person by person.

use super::*;

/// Whom a risk is about, by name, and the groups that they are in.
type InGroups = BTreeMap<i64, BTreeSet<Vec<i64>>>;

fn in_groups(records: &[Record], attributes: &[usize]) -> InGroups {
    let mut in_groups = InGroups::new();
    for record in records {
        in_groups.entry(record[3]).or_default().insert(attributes.iter().map(|a| record[*a]).collect());
    }
    in_groups
}

/// By the definition: by person, 1 over the people of the group in which they are easiest to find.
fn prosecutor_risks(people: &InGroups) -> Vec<f64> {
    let n_people = |group: &Vec<i64>| people.values().filter(|groups| groups.contains(group)).count() as f64;
    people.values().map(|groups| groups.iter().map(|group| 1.0 / n_people(group)).fold(0.0, f64::max)).collect()
}

fn mean(risks: &[f64]) -> f64 {
    risks.iter().sum::<f64>() / risks.len() as f64
}

fn contributions(counts: &GroupCounts, members: &Members) -> Vec<Contribution> {
    people::contributions(counts, members, &Task::default()).expect("nobody stops it")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_risk_of_people_is_as_defined(records in tables(), factor in 1..4u64) {
        let counts = counts(&records);
        let members = Members::of_counts(&counts).expect("somebody has several records");
        let in_all = in_groups(&records, &[0, 1]);
        let naive = prosecutor_risks(&in_all);
        let found = people::risks(&members, &vec![Alike::Unknown; counts.n_groups()], 0.4);
        prop_assert_eq!(found.n_people, Some(in_all.len() as u64));
        prop_assert_eq!(found.n_records, records.len() as u64);
        prop_assert_eq!(found.n_groups, counts.n_groups() as u64);
        prop_assert_eq!(found.prosecutor.highest, naive.iter().copied().fold(0.0, f64::max));
        prop_assert!((found.prosecutor.average - mean(&naive)).abs() < 1e-12);
        prop_assert_eq!(found.prosecutor.n_at_risk, naive.iter().filter(|risk| **risk > 0.4).count() as u64);
        prop_assert_eq!(found.n_unique, naive.iter().filter(|risk| **risk == 1.0).count() as u64);
        // So many people of the population for each of the group: everybody's risk is that much less.
        let alike: Vec<Alike> =
            people::crowds(&counts, &members).iter().map(|(size, _)| Alike::Counted(size * factor)).collect();
        let found = people::risks(&members, &alike, 0.4);
        prop_assert!((found.journalist.average - mean(&naive) / factor as f64).abs() < 1e-12);
        prop_assert_eq!(found.n_unique_in_population, Some(if factor == 1 { found.n_unique } else { 0 }));
        for (a, contribution) in contributions(&counts, &members).iter().enumerate() {
            let (alone, without) = (in_groups(&records, &[a]), in_groups(&records, &[1 - a]));
            let (alone, without) = (prosecutor_risks(&alone), prosecutor_risks(&without));
            let n_unique = |risks: &[f64]| risks.iter().filter(|risk| **risk == 1.0).count() as u64;
            prop_assert_eq!(contribution.n_unique_alone, n_unique(&alone));
            prop_assert_eq!(contribution.n_unique_without, n_unique(&without));
            prop_assert!((contribution.average_alone - mean(&alone)).abs() < 1e-12);
            prop_assert!((contribution.average_without - mean(&without)).abs() < 1e-12);
        }
    }

    /// A second record that says the same makes nobody harder to find, nor easier, but by how many records there are.
    #[test]
    fn equal_records_of_a_person_change_no_risk(records in tables(), which in any::<prop::sample::Index>()) {
        let doubled = [records.clone(), vec![*which.get(&records)]].concat();
        let told = |records: &[Record]| {
            let counts = counts(records);
            let members = Members::of_counts(&counts).expect("somebody has several records");
            let found = people::risks(&members, &vec![Alike::Unknown; counts.n_groups()], 0.2);
            (found.prosecutor, found.n_unique, contributions(&counts, &members))
        };
        prop_assert_eq!(told(&records), told(&doubled));
    }

    /// Two ways to count, and the definition: whose records nobody else has in the same groups.
    #[test]
    fn who_is_alone_by_all_their_records_is_as_defined(records in tables()) {
        let members = Members::of_counts(&counts(&records)).expect("somebody has several records");
        let mut verifier = PeopleVerifier::new(0);
        let mut of_person: BTreeMap<i64, Vec<[i64; 2]>> = BTreeMap::new();
        for [x, y, _, who] in &records {
            of_person.entry(*who).or_default().push([*x, *y]);
            verifier.see_published(vec![Some(x.to_string()), Some(y.to_string())], &who.to_string(), std::iter::empty());
        }
        of_person.values_mut().for_each(|own| own.sort_unstable());
        let is_alone = |own: &&Vec<[i64; 2]>| of_person.values().filter(|other| other == own).count() == 1;
        let n_alone = of_person.values().filter(is_alone).count() as u64;
        prop_assert_eq!(members.n_alone_by_all_records(), n_alone);
        prop_assert_eq!(verifier.n_alone_by_all_records(), n_alone);
        let n_seen: u64 = verifier.groups().iter().flat_map(|(_, who)| who).map(|(_, n)| n).sum();
        prop_assert_eq!(n_seen, records.len() as u64);
    }
}

#[test]
fn people_with_one_record_each_are_records_to_risk() {
    let records: Vec<Record> = (0..9).map(|who| [who % 4, who % 2, 0, who]).collect();
    assert!(Members::of_counts(&counts(&records)).is_none());
    // As if there were people all the same: the same numbers.
    let counts = without_people(&records);
    let group_of = |record: &Record| {
        let is_its = |group: &usize| {
            let value = |a: usize| &counts.domains()[a].values()[counts.codes(*group)[a].index()];
            (0..2).all(|a| *value(a) == record[a].to_string())
        };
        (0..counts.n_groups()).find(is_its).expect("counted") as u32
    };
    let places = records.iter().map(|record| (record[3] as u32, group_of(record), 1)).collect();
    let members = Members::new(records.len(), counts.n_groups(), places);
    let alike = vec![Alike::Unknown; counts.n_groups()];
    let of_people = people::risks(&members, &alike, 0.4);
    let of_records = incrowd::risk::risks(crowds(&counts).into_iter(), 0.4);
    assert_eq!((of_people.n_unique, of_people.n_groups), (of_records.n_unique, of_records.n_groups));
    assert_eq!(of_people.prosecutor.n_at_risk, of_records.prosecutor.n_at_risk);
    assert_eq!(of_people.prosecutor.highest, of_records.prosecutor.highest);
    assert!((of_people.prosecutor.average - of_records.prosecutor.average).abs() < 1e-12);
}

/// A release of one level, as an attacker sees it, and whose records each group has.
fn release(records: &[Record], level: u8) -> (Vec<attack::Group>, Vec<Vec<u32>>) {
    let scheme = Scheme::new(vec![Level(level), Level(0)]);
    let label = |x: i64| match level {
        0 => x.to_string(),
        _ => format!("[{}-{}]", 2 * x, 2 * x + 1),
    };
    let group = |((x, y), records): (&(i64, i64), &Vec<Record>)| {
        let mut values = BTreeMap::new();
        records.iter().for_each(|record| *values.entry(Some(record[2].to_string())).or_insert(0) += 1);
        let cells = vec![Some(label(*x)), Some(y.to_string())];
        let who: BTreeSet<u32> = records.iter().map(|record| record[3] as u32).collect();
        (attack::Group { cells, size: records.len() as u64, values: vec![values] }, who.into_iter().collect())
    };
    // Small groups are not there, as if they were suppressed.
    groups(records, &scheme).iter().filter(|(_, records)| records.len() > 1).map(group).unzip()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Linking people beside the definition: everybody by every record of theirs, against every record of the release.
    #[test]
    fn whom_a_release_finds_is_judged_by_person(records in tables(), level in 0..2u8, is_known in any::<bool>()) {
        let (groups, people) = release(&records, level);
        prop_assume!(!groups.is_empty());
        let combinations: BTreeSet<[i64; 2]> = records.iter().map(|record| [record[0], record[1]]).collect();
        let text = |value: i64| Some(value.to_string());
        let outside: Vec<(Vec<Option<String>>, u64)> =
            combinations.iter().map(|both| (both.iter().map(|value| text(*value)).collect(), 1)).collect();
        let names: BTreeSet<i64> = records.iter().map(|record| record[3]).collect();
        let own = |who: &i64| -> BTreeSet<[i64; 2]> {
            records.iter().filter(|record| record[3] == *who).map(|record| [record[0], record[1]]).collect()
        };
        let whom: Vec<Vec<usize>> = names
            .iter()
            .map(|who| own(who).iter().map(|both| combinations.iter().position(|c| c == both).expect("there")).collect())
            .collect();
        let meanings = [Meaning::default(), Meaning::default()];
        let linkable = Linkable {
            groups: &groups,
            meanings: &meanings,
            known: &[Some(0), Some(1)],
            people: is_known.then_some(&people[..]),
        };
        let found = attack::link_people(&[linkable], &outside, &whom, 1, &Task::default()).expect("nobody stops it").remove(0);
        let mut naive = Linkage { n_one_person: is_known.then_some(0), ..Linkage::default() };
        for who in &names {
            let fits = |both: &[i64; 2]| -> Vec<usize> {
                let is_its = |group: &usize| {
                    (0..2).all(|a| meanings[a].allows(&groups[*group].cells[a], &text(both[a])))
                };
                (0..groups.len()).filter(is_its).collect()
            };
            let hits: Vec<Vec<usize>> = own(who).iter().map(fits).filter(|hits| !hits.is_empty()).collect();
            let any = |is_so: &dyn Fn(&Vec<usize>) -> bool| u64::from(hits.iter().any(is_so));
            let n_different = |hits: &Vec<usize>| hits.iter().flat_map(|g| &people[*g]).collect::<BTreeSet<_>>().len();
            let n_values =
                |hits: &Vec<usize>| hits.iter().flat_map(|g| groups[*g].values[0].keys()).collect::<BTreeSet<_>>().len();
            naive.n_outside += 1;
            naive.n_without += u64::from(hits.is_empty());
            naive.n_one_group += any(&|hits| hits.len() == 1);
            naive.n_several_groups += u64::from(!hits.is_empty() && hits.iter().all(|hits| hits.len() > 1));
            naive.n_one_record += any(&|hits| hits.iter().map(|g| groups[*g].size).sum::<u64>() == 1);
            if let Some(n) = &mut naive.n_one_person {
                *n += any(&|hits| n_different(hits) == 1);
            }
            naive.n_certain += any(&|hits| n_values(hits) == 1);
        }
        prop_assert_eq!(found, naive);
    }
}
