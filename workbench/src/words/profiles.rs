//! Documents about tables that nobody has promised anything of: what columns look like, and a first project.

use incrowd::Role;
use incrowd::table::{Kind, date_text};
use incrowd::wire::share;
use serde_json::{Map, Value, json};

use crate::input::project::Project;
use crate::input::repeats::Repeating;
use crate::input::survey::{self, Suggestion, Survey, SurveyedColumn, Uniqueness, rule_toml};
use crate::orders::init::NewProject;
use crate::orders::profile::{Profiled, role_in_project, shown_rule, tells_who};
use crate::output::project_text::missing_records;

/// As `profile --json` says it.
pub fn profiled(profile: &Profiled, with_values: bool) -> Value {
    let survey = &profile.survey;
    let of_column = |(of, suggestion): (&SurveyedColumn, &Suggestion)| {
        column(survey, of, suggestion, profile.project.as_ref(), with_values)
    };
    let mut object = Map::new();
    let project = profile.project.as_ref().map(|project| project.file.display().to_string());
    object.insert("project".into(), json!(project));
    object.insert("data".into(), json!(profile.data));
    object.insert("n_records".into(), json!(survey.n_records));
    object.insert("n_incomplete".into(), json!(survey.n_incomplete));
    object.insert("missing".into(), json!(survey.missing.tokens));
    object.insert("missing_records".into(), json!(if survey.missing.drop_records { "drop" } else { "keep" }));
    object.insert("columns".into(), survey.columns.iter().zip(&profile.suggestions).map(of_column).collect());
    object.insert("quasi_identifiers".into(), json!(profile.quasi_identifiers));
    let alone = profile.uniqueness.as_ref();
    object
        .insert("uniqueness".into(), alone.map_or(Value::Null, |found| uniqueness(&profile.quasi_identifiers, found)));
    object.insert("repeating".into(), profile.repeating.as_ref().map_or(Value::Null, repeating));
    Value::Object(object)
}

/// A new project, as `init --json` says it.
pub fn started(made: &NewProject) -> Value {
    let (survey, suggestions) = (&made.suggested.survey, &made.suggested.suggestions);
    let of_column = |(of, suggestion): (&SurveyedColumn, &Suggestion)| column(survey, of, suggestion, None, false);
    json!({
        "project": made.file.display().to_string(),
        "data": made.data,
        "n_records": survey.n_records,
        "n_incomplete": survey.n_incomplete,
        "missing": survey.missing.tokens,
        "missing_records": missing_records(survey, suggestions),
        "n_schemes": survey::n_schemes(suggestions),
        "columns": survey.columns.iter().zip(suggestions).map(of_column).collect::<Vec<_>>(),
    })
}

/// How many records stand alone, for programs.
pub fn uniqueness(quasi_identifiers: &[String], found: &Uniqueness) -> Value {
    let without = quasi_identifiers.iter().zip(&found.n_unique_without);
    let without: Map<String, Value> = without.map(|(name, n_unique)| (name.clone(), json!(n_unique.n))).collect();
    json!({
        "n_records": found.n_records,
        "n_people": found.n_people.map(|people| people.n),
        "n_groups": found.n_groups.n,
        "n_unique": found.n_unique.n,
        "share_unique": share(found.n_unique.n.min(found.n_all()), found.n_all()),
        "is_exact": found.n_unique.is_exact,
        "n_unique_without": without,
    })
}

/// The column by which people should be counted, for programs.
pub fn repeating(found: &Repeating) -> Value {
    json!({
        "column": found.column,
        "n_records": found.n_records,
        "n_different": found.n_different.n,
        "is_exact": found.n_different.is_exact,
        "in_words": format!("{found}: count people?"),
    })
}

/// One column and what is suggested for it, for programs.
pub fn column(
    survey: &Survey,
    column: &SurveyedColumn,
    suggestion: &Suggestion,
    project: Option<&Project>,
    with_values: bool,
) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), json!(column.name));
    object.insert("type".into(), json!(column.kind.name()));
    object.insert("n_distinct".into(), json!(column.n_distinct.n));
    object.insert("n_missing".into(), json!(column.n_missing));
    object.insert("n_unique".into(), json!(column.n_unique.n));
    object.insert("share_unique".into(), json!(share(column.n_unique.n.min(survey.n_records), survey.n_records)));
    object.insert("is_exact".into(), json!(column.n_distinct.is_exact));
    let shows_values = with_values && !tells_who(project, column, suggestion);
    if let (true, Some((least, greatest))) = (shows_values, range_texts(column)) {
        object.insert("least".into(), json!(least));
        object.insert("greatest".into(), json!(greatest));
    }
    if let Some(project) = project {
        object.insert("role".into(), json!(role_in_project(project, &column.name).map(Role::name)));
    }
    object.insert("suggested_role".into(), json!(suggestion.role.name()));
    object.insert("why".into(), json!(suggestion.why));
    object.insert(
        "suggested_hierarchy".into(),
        json!(shown_rule(project, column, suggestion, with_values).and_then(rule_toml)),
    );
    object.insert("why_hierarchy".into(), json!(suggestion.why_rule));
    Value::Object(object)
}

/// The least and the greatest value of a column of numbers or dates.
pub fn range_texts(column: &SurveyedColumn) -> Option<(String, String)> {
    let text = |position: f64| match column.kind {
        Kind::Date => date_text(position as i64),
        _ => position.to_string(),
    };
    column.range.map(|(least, greatest)| (text(least), text(greatest)))
}
