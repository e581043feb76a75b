//! Looking closer, for those who may see values: the groups of a scheme, and the table before and after.

use axum::extract::State;
use incrowd::Result;
use incrowd::wire;
use serde_json::{Value, json};

use super::ask::{Document, Levels, Question, Readable, Wish, scheme};
use super::server::{Answered, Shared, with_lattice};
use crate::orders::groups::{Group, LabelSpread, ListGroups, Listed, before_after};
use crate::orders::request::attribute_index;
use crate::words::order::Reader;

/// Groups that are told at once.
const N_GROUPS_SHOWN: usize = 200;

/// A question about the groups of a scheme.
pub struct AboutGroups {
    question: Question,
    order: ListGroups,
}

impl Readable for AboutGroups {
    fn read(reader: &Reader) -> Result<AboutGroups> {
        let order = ListGroups {
            text: reader.text("find")?.map(str::to_string),
            lost: match reader.flag("only_lost")? {
                true => Some(true),
                false => None,
            },
            size: reader.whole("size")?,
            n_max: N_GROUPS_SHOWN,
        };
        Ok(AboutGroups { question: question(reader)?, order })
    }
}

fn question(reader: &Reader) -> Result<Question> {
    let request: Wish = reader.object("request")?.cloned().unwrap_or_default();
    let levels: Option<Levels> = reader.levels("levels")?;
    let project = reader.needed("project", Reader::text)?.to_string();
    Ok(Question { project, request, levels, place: reader.whole("place")?, explain: false })
}

pub(super) async fn groups(State(server): Shared, Document(asked): Document<AboutGroups>) -> Answered {
    server.previews("this server shows no values of the data")?;
    let AboutGroups { question, order } = asked;
    with_lattice(&server, question, move |_, question, asked| {
        let (lattice, counted) = (&asked.ready.lattice, &asked.ready.counted);
        let scheme = scheme(lattice, question)?.unwrap_or_else(|| asked.request.level_max.clone());
        let listed = order.run(counted, &scheme, &asked.request.criteria)?;
        let names = wire::sensitive_names(lattice);
        let keys: Vec<String> =
            asked.request.criteria.iter().map(|criterion| wire::key(criterion.measure, &names)).collect();
        let group = |group: &Group| {
            let missed: Vec<&String> = group.missed.iter().map(|&i| &keys[i]).collect();
            json!({ "labels": group.labels, "size": group.size, "n_records": group.n_records, "missed": missed,
                "size_by_next": group.size_by_next, "contains": group.contains.iter().map(|values| first(values)).collect::<Vec<_>>() })
        };
        let size = |(size, [kept, lost]): (&u64, &[(u64, u64); 2])| {
            json!({ "size": size, "n_kept": kept.0, "n_lost": lost.0, "n_records_lost": lost.1 })
        };
        Ok(json!({
            "attributes": counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect::<Vec<_>>(),
            "sensitive": counted.sensitive_names(),
            "criteria": keys,
            "groups": listed.groups.iter().map(group).collect::<Vec<_>>(),
            "n_found": listed.n_found,
            "n_groups": listed.n_groups,
            "risk": risk(&listed),
            "by_size": listed.by_size.iter().take(60).map(size).collect::<Vec<_>>(),
        }))
    })
    .await
}

/// The most frequent values, and how many records have others.
fn first(values: &[(String, u64)]) -> Value {
    const N_VALUES: usize = 12;
    let n_others: u64 = values.iter().skip(N_VALUES).map(|(_, n)| n).sum();
    json!({ "values": values.iter().take(N_VALUES).collect::<Vec<_>>(), "n_others": n_others })
}

/// How likely somebody is found among what is published: at most, and on average; nothing where nothing is published.
fn risk(listed: &Listed) -> Value {
    let kept = || listed.by_size.iter().filter(|(_, [kept, _])| kept.0 > 0);
    let Some((smallest, _)) = kept().next() else { return Value::Null };
    let (n_groups, n) = kept().fold((0, 0), |(n_groups, n), (size, [kept, _])| (n_groups + kept.0, n + size * kept.0));
    json!({ "highest": wire::rounded(1.0 / (*smallest).max(1) as f64), "average": wire::rounded(n_groups as f64 / n.max(1) as f64) })
}

/// A question about the table before and after, and about two attributes together.
pub struct AboutSpread {
    question: Question,
    pair: Option<(String, String)>,
}

impl Readable for AboutSpread {
    fn read(reader: &Reader) -> Result<AboutSpread> {
        let (across, down) = (reader.text("across")?, reader.text("down")?);
        let pair = down.zip(across).map(|(down, across)| (down.to_string(), across.to_string()));
        Ok(AboutSpread { question: question(reader)?, pair })
    }
}

pub(super) async fn spread(State(server): Shared, Document(asked): Document<AboutSpread>) -> Answered {
    server.previews("this server shows no values of the data")?;
    let AboutSpread { question, pair } = asked;
    with_lattice(&server, question, move |_, question, asked| {
        let (lattice, counted) = (&asked.ready.lattice, &asked.ready.counted);
        let hierarchies = &counted.hierarchies;
        let scheme = scheme(lattice, question)?.unwrap_or_else(|| asked.request.level_max.clone());
        let index = |name: &String| attribute_index(name, hierarchies);
        let pair = pair.map(|(down, across)| Ok::<_, incrowd::Error>((index(&down)?, index(&across)?))).transpose()?;
        let seen = before_after(counted, &scheme, &asked.request.criteria, pair)?;
        let spread = |spread: &LabelSpread| {
            let labels: Vec<Value> = spread.labels.iter().map(|(label, n, m)| json!([label, n, m])).collect();
            json!({ "attribute": hierarchies[spread.attribute].attribute(), "labels": labels })
        };
        Ok(json!({
            "n_records": seen.n_records,
            "n_published": seen.n_published,
            "spreads": seen.spreads.iter().map(spread).collect::<Vec<_>>(),
            "pair": seen.pair,
        }))
    })
    .await
}
