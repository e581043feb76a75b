//! What a project file says about one attribute.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::error::unknown;
use incrowd::hierarchy::Needs;
use incrowd::number::Decimal;
use incrowd::{Distance, ErrorKind, Result, Role, Rule};
use toml::{Table, Value};

use crate::input::level::LevelSaid;
use crate::input::project::Attribute;
use crate::input::project::hierarchy::{date_format, rule};
use crate::input::project::keys::{choice, decimal, known_keys, number, text_at, wrong};
use crate::input::source::{PublishAs, Unknown, Unreadable};
use crate::sentences::hint;

pub(super) fn attribute(name: &str, key: &str, table: &Table, data: &Table, folder: &Path) -> Result<Attribute> {
    const KEYS: [&str; 11] = [
        "role",
        "hierarchy",
        "weight",
        "node_weights",
        "distance",
        "count_at",
        "unreadable",
        "unknown",
        "publish_as",
        "unique",
        "tells",
    ];
    known_keys(table, &format!("{key}."), &KEYS)?;
    let role = text_at(table, &format!("{key}.role"), "role")?.ok_or_else(|| {
        wrong(format!("{key} has no role")).hint("one of identifier, quasi-identifier, sensitive, other, person")
    })?;
    let role = Role::parse(&role)
        .ok_or_else(|| unknown(ErrorKind::Project, &format!("role in {key}"), &role, &Role::ALL.map(Role::name)))?;
    let weight = match table.get("weight") {
        None => 1.0,
        Some(value) => number(value).filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
            wrong(format!("{key}.weight must be a number of at least 0"))
                .hint("the default is 1; a greater weight keeps the attribute more exact")
        })?,
    };
    let node_weights = node_weights(table, key, role)?;
    let distance = match text_at(table, &format!("{key}.distance"), "distance")? {
        None => None,
        Some(text) => Some(Distance::parse(&text).ok_or_else(|| {
            let known = Distance::ALL.map(Distance::name);
            unknown(ErrorKind::Project, &format!("value of {key}.distance"), &text, &known)
        })?),
    };
    let publishes_unique = choice(table, &format!("{key}."), "unique", &["refuse", "publish"])? == "publish";
    // Whoever publishes what finds a person by itself has accepted that it tells what others hide.
    let accepts_telling =
        choice(table, &format!("{key}."), "tells", &["refuse", "accepted"])? == "accepted" || publishes_unique;
    let about_kept = ["unique", "tells"].into_iter().find(|about| table.contains_key(*about));
    if let (Some(about), false) = (about_kept, matches!(role, Role::Other | Role::Sensitive)) {
        return Err(wrong(format!(
            "{key}.{about} is about attributes that are published as they are, and this is {}",
            role.name()
        ))
        .hint(hint("leave it out, or give the attribute {role=other} or {role=sensitive}")));
    }
    let (rule, hierarchy_file) = match table.get("hierarchy") {
        None => (Rule::Flat, None),
        Some(value) => rule(value, &format!("{key}.hierarchy"), folder)?,
    };
    // A file may say in its first line what levels are called.
    let rule = match rule {
        Rule::Table(labels) => Rule::Table(labels.with_header_of(name)?),
        rule => rule,
    };
    let count_at = table.get("count_at").map(|level| count_at(level, key, role, distance, &rule)).transpose()?;
    let publish_as = table.get("publish_as").map(|value| publish_as(value, key, role, distance, &rule)).transpose()?;
    if publish_as.is_some() && count_at.is_some() {
        return Err(wrong(format!("{key}.count_at counts labels, and publish_as publishes something else"))
            .hint(hint("criteria count what is published: leave {attribute.count_at} out")));
    }
    let unreadable = unreadable(table, data, key, &rule, publish_as.as_ref())?;
    let unknown = unknown_values(table, data, key, &rule)?;
    let rule = if unknown == Unknown::Other { rule.with_other() } else { rule };
    let date_format = date_format(table.get("hierarchy"), &format!("{key}.hierarchy"))?;
    let hierarchy_text = table.get("hierarchy").map_or("flat".to_string(), Value::to_string);
    let name = name.to_string();
    Ok(Attribute {
        name,
        role,
        rule,
        hierarchy_file,
        hierarchy_text,
        from_level: None,
        date_format,
        weight,
        node_weights,
        distance,
        count_at,
        unreadable,
        unknown,
        publish_as,
        publishes_unique,
        accepts_telling,
    })
}

/// What labels of an attribute's hierarchy cost, in shares of the values below them.
fn node_weights(table: &Table, key: &str, role: Role) -> Result<BTreeMap<String, f64>> {
    let Some(value) = table.get("node_weights") else { return Ok(BTreeMap::new()) };
    if role != Role::QuasiIdentifier {
        return Err(wrong(format!("{key}.node_weights is about what is generalized, and this is {}", role.name()))
            .hint(hint("leave it out, or give the attribute {role=quasi-identifier}")));
    }
    let weights = value.as_table().and_then(|weights| {
        let of_label = |(label, value): (&String, &Value)| {
            number(value).filter(|weight| weight.is_finite() && *weight >= 0.0).map(|weight| (label.clone(), weight))
        };
        weights.iter().map(of_label).collect()
    });
    weights.ok_or_else(|| {
        wrong(format!("{key}.node_weights must give labels numbers of at least 0"))
            .hint(hint("for example {:Married=2.0}: it costs twice its share of the values"))
    })
}

/// A choice that an attribute makes, or else the data section; where it is the attribute's, whether it `applies` matters.
fn own_or_of_data<'a>(
    (table, data): (&Table, &Table),
    key: &str,
    name: &str,
    choices: &[&'a str],
    applies: bool,
    else_hint: &'static str,
) -> Result<&'a str> {
    let of_data = choice(data, "data.", name, choices)?;
    match (table.contains_key(name), applies) {
        (true, false) => Err(wrong(format!("{key}.{name} says nothing here")).hint(hint(else_hint))),
        (true, true) => choice(table, &format!("{key}."), name, choices),
        (false, true) => Ok(of_data),
        (false, false) => Ok(choices[0]),
    }
}

/// What becomes of cells that are no numbers or no dates.
fn unreadable(
    table: &Table,
    data: &Table,
    key: &str,
    rule: &Rule,
    publish_as: Option<&PublishAs>,
) -> Result<Unreadable> {
    let needs_numbers = matches!(publish_as, Some(PublishAs::Round(_) | PublishAs::Top(_)));
    let applies = needs_numbers || rule.needs() != Needs::Anything;
    let otherwise = "it is about numbers and dates: intervals, cuts and dates need them; what a file or a tree does not \
                     know is {attribute.unknown=missing}";
    let said = own_or_of_data((table, data), key, "unreadable", &Unreadable::NAMES, applies, otherwise)?;
    Ok(Unreadable::parse(said).expect("one of its names"))
}

/// What becomes of values that the hierarchy does not know.
fn unknown_values(table: &Table, data: &Table, key: &str, rule: &Rule) -> Result<Unknown> {
    let otherwise = "it is about hierarchies of files and trees, which know some values; where numbers or dates cannot be \
                     read, say {attribute.unreadable=missing}";
    let said = own_or_of_data((table, data), key, "unknown", &Unknown::NAMES, rule.table().is_some(), otherwise)?;
    Ok(Unknown::parse(said).expect("one of its names"))
}

/// What is published of an attribute that is not generalized.
fn publish_as(value: &Value, key: &str, role: Role, distance: Option<Distance>, rule: &Rule) -> Result<PublishAs> {
    const EXAMPLES: &str = "one of {:round=100}, {:top=0.99} and {:level=1}";
    let key = format!("{key}.publish_as");
    if !matches!(role, Role::Sensitive | Role::Other) {
        return Err(wrong(format!(
            "{key} is about attributes that are published as they are, and this is {}",
            role.name()
        ))
        .hint(hint("leave it out, or give the attribute {role=other} or {role=sensitive}")));
    }
    let table = value.as_table().ok_or_else(|| wrong(format!("{key} must say how")).hint(hint(EXAMPLES)))?;
    known_keys(table, &format!("{key}."), &["round", "top", "level"])?;
    let mut ways = table.iter();
    let (Some((way, value)), None) = (ways.next(), ways.next()) else {
        return Err(wrong(format!("{key} must say exactly one way")).hint(hint(EXAMPLES)));
    };
    let published = match way.as_str() {
        "round" => {
            let step = decimal(value).filter(|step| step.is_positive());
            PublishAs::Round(
                step.ok_or_else(|| wrong(format!("{key}.round must be a number above 0")).hint(hint(EXAMPLES)))?,
            )
        }
        "top" => {
            let one = Decimal::from(1);
            let share = decimal(value).filter(|share| share.is_positive() && *share < one);
            let share = share.ok_or_else(|| {
                wrong(format!("{key}.top must be a share between 0 and 1"))
                    .hint(hint("{:top=0.99} gives one label to the highest hundredth of the values"))
            })?;
            PublishAs::Top(share)
        }
        _ => {
            let level = level_said(value).ok_or_else(|| {
                wrong(format!("{key}.level must be a level, by its number from 1 on or by its name"))
                    .hint(hint(EXAMPLES))
            })?;
            if matches!(rule, Rule::Flat) {
                return Err(wrong(format!("{key}.level names a level of a hierarchy, and the attribute has none"))
                    .hint(hint("give it a hierarchy, or leave {attribute.publish_as} out")));
            }
            PublishAs::Level(level)
        }
    };
    if !matches!(published, PublishAs::Level(_)) && rule.needs() == Needs::Dates {
        return Err(
            wrong(format!("{key}.{way} is about numbers, and the attribute has dates")).hint(hint("{:level=month}"))
        );
    }
    match (distance, &published) {
        (None | Some(Distance::Equal), _) | (Some(Distance::Ordered), PublishAs::Round(_)) => Ok(published),
        (Some(distance), _) => Err(wrong(format!(
            "{key} publishes labels or numbers that distance = \"{}\" does not know",
            distance.name()
        ))
        .hint("criteria judge what is published: leave one of them out")),
    }
}

fn level_said(value: &Value) -> Option<LevelSaid> {
    match value {
        Value::Integer(n) if *n > 0 => Some(LevelSaid::Number(usize::try_from(*n).unwrap_or(usize::MAX))),
        Value::String(name) => Some(LevelSaid::Name(name.clone())),
        _ => None,
    }
}

/// The level by whose labels the values of a sensitive attribute are counted.
fn count_at(value: &Value, key: &str, role: Role, distance: Option<Distance>, rule: &Rule) -> Result<LevelSaid> {
    let level = level_said(value).ok_or_else(|| {
        wrong(format!("{key}.count_at must be a level, by its number from 1 on or by its name"))
            .hint("level 0 is the value itself, which is the default")
    })?;
    if role != Role::Sensitive {
        return Err(wrong(format!("{key}.count_at is about sensitive attributes, and this is {}", role.name()))
            .hint(hint("leave it out, or give the attribute {role=sensitive}")));
    }
    if matches!(rule, Rule::Flat) {
        return Err(wrong(format!("{key}.count_at names a level of a hierarchy, and the attribute has none"))
            .hint(hint("give it a hierarchy, or leave {attribute.count_at} out")));
    }
    match distance {
        None | Some(Distance::Equal) => Ok(level),
        Some(distance) => Err(wrong(format!(
            "{key}.count_at counts labels, and distance = \"{}\" is between values",
            distance.name()
        ))
        .hint("leave one of them out")),
    }
}
