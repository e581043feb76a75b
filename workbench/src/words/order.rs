//! Orders as JSON documents, for every front that speaks JSON: the names are those of the flags, with `_` for `-`.
//!
//! `{"k": 5, "disease:l": 2, "max_suppressed": "1%", "max_level": {"age": 2}}`

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use incrowd::error::{Wording, unknown};
use incrowd::recode::partition::CellStyle;
use incrowd::recode::per_record::{Risk as RiskModel, Utility};
use incrowd::search::partial::{Estimator, Selection};
use incrowd::verify::SuppressedAs;
use incrowd::{Error, ErrorKind, Measure, Method, Ranking, Result};
use serde_json::{Map as Object, Value};

use crate::input::database::dialect::Dialect;
use crate::input::database::place::DatabasePlace;
use crate::input::project::{CRITERIA, CriterionText, FILE_NAME};
use crate::input::source::{Encoding, parse_delimiter, parse_encoding};
use crate::orders::annotate::{Annotate, ShownLattice, Update};
use crate::orders::attack::Attack;
use crate::orders::compare::Compare;
use crate::orders::contenders::{Contender, N_QUERIES};
use crate::orders::count::Count;
use crate::orders::extent::{Extent, ExtentWish, TIME};
use crate::orders::frontier::{Frontier, max_suppressed};
use crate::orders::frontier_local::{FrontierLocal, no_record};
use crate::orders::hierarchy::{ExportHierarchy, FindAbsent, ShowHierarchy};
use crate::orders::init::Init;
use crate::orders::local::{Local, method_named};
use crate::orders::map::{KS, METHODS, Map};
use crate::orders::negotiate::Negotiate;
use crate::orders::negotiate_local::{CutChoice, LossLimits, NegotiateLocal};
use crate::orders::per_record::{PER_RECORD, PerRecordWish, check_one_by_one, published_search};
use crate::orders::publish::{AnswerChoice, CutWish, Form, GLOBAL, Publish, PublishBy};
use crate::orders::request::{About, GivenRequest, Suppression, fraction, share_of};
use crate::orders::risk::{Risk, THRESHOLD, share};
use crate::orders::verify::Verify;
use crate::output::account::Key;

/// What a path is for, so that a front can refuse those that it does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathUse {
    Read,
    Write,
    /// The address of a database, which is no path.
    Connect,
}

/// A document that is read key by key; what nobody reads is refused at the end.
pub struct Reader<'a> {
    pub(super) document: &'a Object<String, Value>,
    pub(super) taken: RefCell<Vec<String>>,
    /// Makes a path that was written into one that may be used.
    path: &'a dyn Fn(&str, PathUse) -> Result<PathBuf>,
    /// Whether the project's [request] speaks where the document says nothing.
    with_standing: bool,
}

/// What is asked of a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AboutHierarchy {
    Show(ShowHierarchy),
    /// With whether values are told.
    Absent(FindAbsent, bool),
    Export(ExportHierarchy),
}

pub(super) fn wrong(message: impl Into<Wording>) -> Error {
    Error::new(ErrorKind::Request, message)
}

impl<'a> Reader<'a> {
    pub fn new(
        document: &'a Object<String, Value>,
        path: &'a dyn Fn(&str, PathUse) -> Result<PathBuf>,
        with_standing: bool,
    ) -> Reader<'a> {
        Reader { document, taken: RefCell::default(), path, with_standing }
    }

    /// Refuses keys that say nothing to the order.
    pub fn finish(&self) -> Result<()> {
        let taken = self.taken.borrow();
        match self.document.keys().find(|key| !taken.contains(key)) {
            None => Ok(()),
            Some(key) => {
                let known: Vec<&str> = taken.iter().map(String::as_str).collect();
                Err(unknown(ErrorKind::Request, "key", key, &known))
            }
        }
    }

    /// What a key says; null says nothing.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.taken.borrow_mut().push(key.to_string());
        self.document.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn read<T>(&self, key: &str, what: &str, of: impl FnOnce(&'a Value) -> Option<T>) -> Result<Option<T>> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => of(value).map(Some).ok_or_else(|| wrong(format!("{key} is {what}"))),
        }
    }

    pub fn flag(&self, key: &str) -> Result<bool> {
        Ok(self.read(key, "true or false", Value::as_bool)?.unwrap_or(false))
    }

    pub fn whole(&self, key: &str) -> Result<Option<u64>> {
        self.read(key, "a whole number", Value::as_u64)
    }

    /// A number, or a fraction as a text.
    fn number(&self, key: &str) -> Result<Option<f64>> {
        self.read(key, "a number", |value| value.as_f64().or_else(|| fraction(value.as_str()?)))
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        self.read(key, "a text", Value::as_str)
    }

    /// A document within the document.
    pub fn object(&self, key: &str) -> Result<Option<&'a Object<String, Value>>> {
        self.read(key, "an object", Value::as_object)
    }

    /// What has to be there.
    pub fn needed<T>(&self, key: &str, of: impl FnOnce(&Self, &str) -> Result<Option<T>>) -> Result<T> {
        of(self, key)?.ok_or_else(|| wrong(format!("{key} is missing")))
    }

    /// A text, or a number as it is written.
    pub(super) fn written(&self, key: &str) -> Result<Option<String>> {
        self.read(key, "a text or a number", |value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    /// Texts; one alone may stand for itself.
    pub(super) fn texts(&self, key: &str) -> Result<Option<Vec<String>>> {
        self.read(key, "a list of texts", |value| match value {
            Value::String(text) => Some(vec![text.clone()]),
            Value::Array(list) => list.iter().map(|item| item.as_str().map(str::to_string)).collect(),
            _ => None,
        })
    }

    pub(super) fn wholes(&self, key: &str) -> Result<Option<Vec<u64>>> {
        self.read(key, "a list of whole numbers", |value| match value {
            Value::Number(number) => number.as_u64().map(|number| vec![number]),
            Value::Array(list) => list.iter().map(Value::as_u64).collect(),
            _ => None,
        })
    }

    pub(super) fn path(&self, key: &str, purpose: PathUse) -> Result<Option<PathBuf>> {
        self.text(key)?.map(|path| (self.path)(path, purpose)).transpose()
    }

    /// A level per attribute, by number or name.
    pub fn levels(&self, key: &str) -> Result<Option<Vec<(String, String)>>> {
        self.read(key, "asked for as {\"age\": 2}", |value| {
            let level = |(name, level): (&String, &Value)| match level {
                Value::String(text) => Some((name.clone(), text.clone())),
                Value::Number(number) if number.is_u64() => Some((name.clone(), number.to_string())),
                _ => None,
            };
            value.as_object()?.iter().map(level).collect()
        })
    }

    pub fn about(&self) -> Result<About> {
        let sensitive = self.text("sensitive")?.map(str::to_string);
        Ok(About { quasi_identifiers: self.texts("quasi_identifiers")?, sensitive })
    }

    /// The criteria: `k`, `t`, `disease:l`.
    pub fn criteria(&self) -> Result<Vec<CriterionText>> {
        let mut criteria = Vec::new();
        for name in CRITERIA {
            self.taken.borrow_mut().push(name.to_string());
            let is_meant = |key: &&String| key.rsplit_once(':').map_or(key.as_str(), |(_, name)| name) == name;
            for key in self.document.keys().filter(is_meant) {
                let attribute = key.rsplit_once(':').map(|(attribute, _)| attribute.to_string());
                if let Some(value) = self.get(key) {
                    criteria.push(CriterionText { name, attribute, value: value_of_criterion(name, value)? });
                }
            }
        }
        Ok(criteria)
    }

    pub fn given_request(&self) -> Result<GivenRequest> {
        let best_by = self.read("best_by", "a text such as \"ncp\"", Value::as_str)?;
        let max_level = self.levels("max_level")?;
        Ok(GivenRequest {
            criteria: self.criteria()?,
            max_suppressed: self.max_suppressed()?,
            max_level: if self.with_standing { max_level } else { Some(max_level.unwrap_or_default()) },
            best_by: best_by.map(Ranking::parse).transpose()?,
            with_standing: self.with_standing,
        })
    }

    /// How many records may be lost.
    fn max_suppressed(&self) -> Result<Option<Suppression>> {
        let most =
            self.read("max_suppressed", "a number of records or a share such as \"1%\"", |value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) if number.is_u64() => Some(number.to_string()),
                _ => None,
            })?;
        most.as_deref().map(Suppression::parse).transpose()
    }

    /// The share of the schemes that a part of the lattice has.
    pub(super) fn partial(&self) -> Result<Option<f64>> {
        let share = self.read("partial", "a share such as \"5%\"", |value| match value {
            Value::Bool(true) => Some(Some(Selection::default().share)),
            Value::Bool(false) => Some(None),
            Value::Number(share) => share.as_f64().map(Some),
            Value::String(text) => Some(Some(share_of(text)?)),
            _ => None,
        })?;
        match share.flatten() {
            Some(share) if !(share > 0.0 && share <= 1.0) => Err(wrong("partial is a share above 0 and at most 100%")),
            share => Ok(share),
        }
    }

    /// `full`, `partial` with a share such as "5%", `estimator`, `on_demand`.
    fn extent(&self) -> Result<ExtentWish> {
        let estimator = self.text("estimator")?.map(Estimator::parse).transpose()?;
        let forced = match (self.flag("full")?, self.partial()?, self.flag("on_demand")?) {
            (false, None, false) => None,
            (true, None, false) => Some(Extent::Full),
            (false, None, true) => Some(Extent::OnDemand),
            (false, Some(share), false) => {
                let standard = Selection::default();
                Some(Extent::Partial(Selection { share, estimator: estimator.unwrap_or(standard.estimator) }))
            }
            _ => return Err(wrong("full, partial and on_demand exclude each other").hint("give one of them")),
        };
        Ok(ExtentWish { forced, estimator })
    }

    /// Seconds, or a text such as "30s", "5m" or "2h".
    pub(super) fn time(&self) -> Result<Duration> {
        Ok(self.time_given()?.unwrap_or(TIME))
    }

    /// The same, where it is said.
    fn time_given(&self) -> Result<Option<Duration>> {
        let seconds = self.read("time", "a time such as \"30s\"", |value| match value {
            Value::Number(seconds) => seconds.as_f64(),
            Value::String(text) => {
                let (digits, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
                let factor = [("", 1.0), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
                let (_, factor) = factor.into_iter().find(|(name, _)| *name == unit.trim())?;
                digits.trim().parse::<f64>().ok().map(|number| number * factor)
            }
            _ => None,
        })?;
        match seconds {
            None => Ok(None),
            Some(seconds) if (0.0..1e9).contains(&seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
            Some(_) => Err(wrong("time is not a time").hint("for example \"30s\"")),
        }
    }

    pub fn init(&self) -> Result<Init> {
        let order = Init {
            data: self.needed("data", |reader, key| reader.path(key, PathUse::Read))?,
            // Where nothing is said, the file is put where the front writes, which need not be the current folder.
            output: Some(
                self.path("output", PathUse::Write)?.map_or_else(|| (self.path)(FILE_NAME, PathUse::Write), Ok)?,
            ),
            replace: self.flag("force")?,
            delimiter: self.delimiter()?,
            sheet: self.text("sheet")?.map(str::to_string),
            encoding: self.encoding()?,
            missing: self.texts("missing")?.unwrap_or_default(),
            table: self.text("table")?.map(str::to_string),
            query: self.text("query")?.map(str::to_string),
        };
        self.finish()?;
        Ok(order)
    }

    /// One attribute's hierarchy, `absent` or `export`.
    pub fn hierarchy(&self) -> Result<AboutHierarchy> {
        let attribute = self.text("attribute")?.map(str::to_string);
        let (absent, export) = (self.flag("absent")?, self.flag("export")?);
        let with_values = self.flag("show_values")?;
        let (output, replace) = self.output()?;
        self.finish()?;
        match (attribute, absent, export) {
            (_, true, true) => Err(wrong("absent and export exclude each other").hint("give one of them")),
            (attribute, true, false) => Ok(AboutHierarchy::Absent(FindAbsent { attribute }, with_values)),
            _ if with_values => Err(wrong("show_values is about what is absent").hint("give absent too")),
            (None, ..) => Err(wrong("attribute is missing")),
            (Some(attribute), _, true) => Ok(AboutHierarchy::Export(ExportHierarchy { attribute, output, replace })),
            (Some(_), ..) if output.is_some() => Err(wrong("output is about what is exported").hint("give export too")),
            (Some(attribute), ..) => Ok(AboutHierarchy::Show(ShowHierarchy { attribute })),
        }
    }

    pub fn negotiate(&self) -> Result<Negotiate> {
        let order = Negotiate {
            about: self.about()?,
            request: self.given_request()?,
            explain: self.flag("explain")?,
            as_published: self.flag("as_published")?,
            lattice: self.path("lattice", PathUse::Read)?,
            extent: self.extent()?,
            time: self.time()?,
            not_extended: self.flag("not_extended")?,
        };
        self.finish()?;
        order.check()?;
        Ok(order)
    }

    /// Whether ranges of their own for every group are meant, instead of one level for all.
    pub fn is_local(&self) -> Result<bool> {
        self.flag("local")
    }

    pub fn negotiate_local(&self) -> Result<NegotiateLocal> {
        let order = NegotiateLocal {
            about: self.about()?,
            request: self.given_request()?,
            max_loss: self.max_loss()?,
            lattice: self.path("lattice", PathUse::Read)?,
        };
        self.finish()?;
        order.check()?;
        Ok(order)
    }

    pub fn frontier_local(&self) -> Result<FrontierLocal> {
        let given = self.given_request()?;
        let order = FrontierLocal {
            about: self.about()?,
            over: self.text("over")?.unwrap_or("k").to_string(),
            request: GivenRequest { max_suppressed: Some(given.max_suppressed.unwrap_or_else(no_record)), ..given },
            max_loss: self.max_loss()?,
            lattice: self.path("lattice", PathUse::Read)?,
        };
        self.finish()?;
        Ok(order)
    }

    /// `max_loss`: a share such as "10%" or 0.1, or shares of attributes as {"age": "5%"}, with "*" for everything.
    fn max_loss(&self) -> Result<LossLimits> {
        let share = |value: &Value| match value {
            Value::Number(share) => share.as_f64(),
            Value::String(text) => share_of(text),
            _ => None,
        };
        let given =
            self.read("max_loss", "a share such as \"10%\", or {\"*\": \"10%\", \"age\": \"5%\"}", |value| {
                let of = |(name, value): (&String, &Value)| {
                    Some((Some(name.clone()).filter(|name| name != "*"), share(value)?))
                };
                match value {
                    Value::Object(all) => all.iter().map(of).collect(),
                    value => Some(vec![(None, share(value)?)]),
                }
            })?;
        let mut limits = LossLimits::default();
        for (name, share) in given.unwrap_or_default() {
            limits.add(name.as_deref(), share)?;
        }
        Ok(limits)
    }

    /// With whether every scheme is told, instead of a line per height.
    pub fn annotate(&self) -> Result<(Annotate, ShownLattice)> {
        // k may be a list here.
        let (mut document, mut more_ks) = (self.document.clone(), Vec::new());
        if let Some(Value::Array(_)) = self.document.get("k") {
            let ks = self.wholes("k")?.unwrap_or_default();
            let (first, more) = ks.split_first().ok_or_else(|| wrong("k is an empty list"))?;
            (document["k"], more_ks) = (Value::from(*first), more.to_vec());
        }
        let criteria = Reader { document: &document, taken: RefCell::default(), ..*self };
        let criteria = (criteria.criteria()?, criteria.taken.into_inner());
        self.taken.borrow_mut().extend(criteria.1);
        let order = Annotate {
            about: self.about()?,
            request: GivenRequest { with_standing: self.with_standing, ..GivenRequest::of_criteria(criteria.0) },
            more_ks,
            with_entropy: self.flag("entropy")?,
            extent: self.extent()?,
            local: self.is_local()?,
            output: self.path("output", PathUse::Write)?,
            replace: self.flag("force")?,
        };
        let shown = ShownLattice { per_scheme: self.flag("per_scheme")?, per_group: self.flag("per_group")? };
        shown.check(order.local)?;
        self.finish()?;
        Ok((order, shown))
    }

    pub fn update(&self) -> Result<(Update, bool)> {
        let lattice = self.path("lattice", PathUse::Read)?;
        let order = Update {
            lattice: lattice
                .ok_or_else(|| wrong("no lattice is named").hint("give the file that annotate has kept"))?,
            append: self.path("append", PathUse::Read)?,
            remove: self.path("remove", PathUse::Read)?,
            output: self.path("output", PathUse::Write)?,
            replace: self.flag("force")?,
            about: About::default(),
            request: GivenRequest { with_standing: self.with_standing, ..GivenRequest::of_criteria(self.criteria()?) },
        };
        let per_scheme = self.flag("per_scheme")?;
        self.finish()?;
        order.check()?;
        Ok((order, per_scheme))
    }

    pub fn frontier(&self) -> Result<Frontier> {
        let given = self.given_request()?;
        let order = Frontier {
            about: self.about()?,
            criteria: given.criteria,
            over: self.text("over")?.unwrap_or("k").to_string(),
            ranking: given.best_by.map_or_else(|| Ranking::parse("ncp"), Ok)?,
            max_suppressed: given.max_suppressed.unwrap_or_else(max_suppressed),
            max_level: given.max_level.unwrap_or_default(),
            lattice: self.path("lattice", PathUse::Read)?,
            extent: self.extent()?,
        };
        self.finish()?;
        order.check()?;
        Ok(order)
    }

    pub fn compare(&self) -> Result<Compare> {
        // k is a list here.
        let ks = self.wholes("k")?.unwrap_or_default();
        let mut criteria = self.document.clone();
        criteria.remove("k");
        let beside = Reader { document: &criteria, taken: RefCell::default(), ..*self };
        let given = GivenRequest { best_by: None, max_level: None, ..beside.given_request()? };
        self.taken.borrow_mut().extend(beside.taken.into_inner());
        let order = Compare {
            about: self.about()?,
            request: GivenRequest { with_standing: self.with_standing, ..given },
            ks,
            is_chart: false,
            contenders: self.contenders()?,
            queries: self.path("queries", PathUse::Read)?,
            n_queries: self.whole("n_queries")?.map_or(N_QUERIES, |n| n.clamp(1, 100_000) as usize),
            seed: self.whole("seed")?.unwrap_or(0),
            vary_weight: self.text("vary_weight")?.map(str::to_string),
            n_steps: self.steps()?,
            time: self.time_given()?,
            target: self.text("target")?.map(str::to_string),
        };
        self.finish()?;
        Ok(order)
    }

    /// `methods`: who is compared.
    pub fn contenders(&self) -> Result<Option<Vec<Contender>>> {
        let parse = |names: Vec<String>| names.iter().map(|name| Contender::parse(name.trim())).collect();
        self.texts("methods")?.map(parse).transpose()
    }

    pub fn of_records(&self) -> Result<PerRecordWish> {
        Ok(PerRecordWish {
            utility_at_least: self.written("utility_at_least")?,
            risk_at_most: self.number("risk_at_most")?,
            lambda: self.number("lambda")?,
            utility: self.text("utility")?.map(Utility::parse).transpose()?,
            risk: self.text("risk")?.map(RiskModel::parse).transpose()?,
            dictionary: self.path("dictionary", PathUse::Read)?,
            similarity: self.number("similarity")?,
            weights: self.path("weights", PathUse::Read)?,
            weights_seed: self.whole("weights_seed")?,
            also_k: self.whole("also_k")?,
            as_published: published_search(self.flag("as_published")?, self.text("search")?)?,
        })
    }

    pub fn map(&self) -> Result<Map> {
        let methods = match self.texts("methods")? {
            Some(names) => names.iter().map(|name| Method::parse(name)).collect::<Result<_>>()?,
            None => METHODS.to_vec(),
        };
        let ks = self.wholes("ks")?.unwrap_or_else(|| KS.to_vec());
        let order = Map { about: self.about()?, wish: self.of_records()?, ks, methods };
        self.finish()?;
        order.check()?;
        Ok(order)
    }

    pub fn publish(&self) -> Result<Publish> {
        let method = self.text("method")?.unwrap_or(GLOBAL);
        if method == PER_RECORD {
            check_one_by_one(|name| self.is_given(name))?;
        }
        let way = match method {
            method if self.is_local()? => self.cut(method)?,
            GLOBAL => match self.levels("levels")? {
                Some(levels) => PublishBy::Levels(levels),
                None => PublishBy::Answer { choice: self.choice()?, extent: self.extent()?, time: self.time()? },
            },
            PER_RECORD => PublishBy::PerRecord(Box::new(self.of_records()?)),
            method => PublishBy::Local(self.local(method)?),
        };
        let request = match way {
            PublishBy::PerRecord(_) => GivenRequest { with_standing: self.with_standing, ..GivenRequest::default() },
            PublishBy::Local(_) => GivenRequest {
                max_suppressed: self.max_suppressed()?,
                with_standing: self.with_standing,
                ..GivenRequest::of_criteria(self.criteria()?)
            },
            _ => self.given_request()?,
        };
        let is_global = matches!(way, PublishBy::Answer { .. } | PublishBy::Levels(_));
        let two_columns = is_global && self.two_columns()?;
        let target = self.text("target")?.map(str::to_string);
        Ok(Publish { about: self.about()?, request, way, two_columns, target })
    }

    /// Whether the document has a key, or for `k` that of any criterion; one that says no to something has not.
    fn is_given(&self, name: &str) -> bool {
        let is_it = |key: &str| match name {
            "k" => Measure::parse(key.rsplit(':').next().unwrap_or(key)).is_some(),
            name => key == name,
        };
        let says = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
        self.document.iter().any(|(key, value)| is_it(key) && says(value))
    }

    /// An answer over local recoding, to be published.
    fn cut(&self, method: &str) -> Result<PublishBy> {
        let negotiated = Method::Negotiated.name();
        CutWish::check_method(method)?;
        let choice = self.text("offer")?.map_or(Ok(CutChoice::Exact), CutChoice::parse)?;
        Ok(PublishBy::Cut(CutWish { choice, max_loss: self.max_loss()?, local: self.local(negotiated)? }))
    }

    fn choice(&self) -> Result<AnswerChoice> {
        self.text("offer")?.map_or(Ok(AnswerChoice::Exact), AnswerChoice::parse)
    }

    /// `two_columns`: whether ranges are written as their lowest and their highest value.
    pub fn two_columns(&self) -> Result<bool> {
        self.flag("two_columns")
    }

    pub fn local(&self, method: &str) -> Result<Local> {
        let style = match self.text("cells")? {
            None => None,
            Some(text) => {
                let known = CellStyle::ALL.map(CellStyle::name);
                Some(CellStyle::parse(text).ok_or_else(|| unknown(ErrorKind::Request, "style", text, &known))?)
            }
        };
        let exchanges = self.read("exchanges", "a whole number", |value| u32::try_from(value.as_u64()?).ok())?;
        let (two_columns, plain) = (self.two_columns()?, self.flag("plain")?);
        let method = method_named(method, self.flag("as_published")?)?;
        let local = Local::with_options(method, style, two_columns, self.whole("seed")?, plain, exchanges)?;
        local.improved_by(self.steps()?, self.time_given()?)
    }

    /// `steps`: by how many groups are improved.
    fn steps(&self) -> Result<Option<u64>> {
        match self.whole("steps")? {
            Some(0) => Err(wrong("steps is 0").hint("leave it out, or give a greater number")),
            steps => Ok(steps),
        }
    }

    /// The signer's key.
    pub fn key(&self) -> Result<Option<Key>> {
        self.text("key")?.map(Key::parse).transpose()
    }

    /// The data that are read instead of the project's.
    pub fn data(&self) -> Result<Option<PathBuf>> {
        self.path("data", PathUse::Read)
    }

    /// Where a release goes, and whether it replaces what is there.
    pub fn output(&self) -> Result<(Option<PathBuf>, bool)> {
        Ok((self.path("output", PathUse::Write)?, self.flag("force")?))
    }

    /// `rows`: whether a release is written as distinct rows; `sql`, `dialect` and `into`: the statement that expands them;
    /// `into` alone is the table that the release becomes, in the project's database or in the one of `database`.
    pub fn form(&self) -> Result<Form> {
        let rows = self.flag("rows")?;
        let dialect = self.dialect()?;
        let into = self.text("into")?.map(str::to_string);
        let database = self.path("database", PathUse::Connect)?.map(|address| address.display().to_string());
        Form::new(
            rows,
            dialect,
            into,
            database.as_deref(),
            self.document.get("output").is_some_and(|output| !output.is_null()),
        )
    }

    /// `sql`: whether a statement is wanted; `dialect`: in whose words.
    fn dialect(&self) -> Result<Option<Dialect>> {
        let dialect = self.text("dialect")?.map(Dialect::parse).transpose()?;
        match (self.flag("sql")?, dialect) {
            (true, dialect) => Ok(Some(dialect.unwrap_or_default())),
            (false, None) => Ok(None),
            (false, Some(_)) => Err(wrong("dialect is about a statement, and none is wanted").hint("give sql too")),
        }
    }

    pub fn count(&self) -> Result<Count> {
        let (dialect, table) = (self.dialect()?, self.text("table")?.map(str::to_string));
        let columns = self.texts("columns")?.unwrap_or_default();
        let about = self.about()?;
        self.finish()?;
        Count::new(about, dialect, table, columns)
    }

    /// What separates the fields of a CSV file.
    fn delimiter(&self) -> Result<Option<u8>> {
        let parsed = self.text("delimiter")?.map(parse_delimiter).transpose();
        parsed.map_err(|what| wrong(format!("delimiter {what}")))
    }

    /// How the characters of a text file are written.
    fn encoding(&self) -> Result<Option<Encoding>> {
        let parsed = self.text("encoding")?.map(parse_encoding).transpose();
        parsed.map_err(|what| wrong(format!("encoding {what}")))
    }

    fn suppressed_as(&self) -> Result<SuppressedAs> {
        match self.text("suppressed_as")? {
            None | Some("group") => Ok(SuppressedAs::Group),
            Some("absent") => Ok(SuppressedAs::Absent),
            Some(other) => Err(unknown(ErrorKind::Request, "suppressed_as", other, &["group", "absent"])),
        }
    }

    pub fn verify(&self) -> Result<Verify> {
        let (file, table) = (self.path("file", PathUse::Read)?, self.text("table")?.map(str::to_string));
        let database = self.path("database", PathUse::Connect)?.map(|uri| uri.display().to_string());
        let database =
            database.map(|uri| DatabasePlace::new(&uri, Some(table.as_deref().unwrap_or_default()), None, None));
        let order = Verify {
            file: file
                .or(table.as_ref().map(PathBuf::from))
                .ok_or_else(|| wrong("no file is named").hint("name a release"))?,
            database: database.transpose()?,
            table,
            certificate: self.path("certificate", PathUse::Read)?,
            quasi_identifiers: self.texts("quasi_identifiers")?,
            sensitive: self.texts("sensitive")?,
            project: self.path("project", PathUse::Read)?,
            data: self.path("data", PathUse::Read)?,
            key: self.text("key")?.map(Key::parse).transpose()?,
            criteria: self.criteria()?,
            suppressed_as: self.suppressed_as()?,
            delimiter: self.delimiter()?,
            counted: self.text("counted")?.map(str::to_string),
        };
        self.finish()?;
        Ok(order)
    }

    /// With how many of the worst groups are told, and whether values are.
    pub fn attack(&self) -> Result<(Attack, usize, bool)> {
        let files = self.texts("files")?.unwrap_or_default();
        let hierarchies = self.read("hierarchies", "asked for as {\"disease\": \"disease.csv\"}", |value| {
            let of = |(name, path): (&String, &Value)| Some((name.clone(), path.as_str()?.to_string()));
            value.as_object()?.iter().map(of).collect::<Option<Vec<_>>>()
        })?;
        let readable = |path: &String| (self.path)(path, PathUse::Read);
        let order = Attack {
            files: files.iter().map(readable).collect::<Result<_>>()?,
            quasi_identifiers: self.texts("quasi_identifiers")?,
            sensitive: self.texts("sensitive")?,
            project: self.path("project", PathUse::Read)?,
            data: self.path("data", PathUse::Read)?,
            outside: self.path("outside", PathUse::Read)?,
            hierarchies: hierarchies
                .unwrap_or_default()
                .into_iter()
                .map(|(name, path)| Ok((name, readable(&path)?)))
                .collect::<Result<_>>()?,
            suppressed_as: self.suppressed_as()?,
        };
        let (worst, show_values) = (self.whole("worst")?.unwrap_or(3) as usize, self.flag("show_values")?);
        self.finish()?;
        Ok((order, worst, show_values))
    }

    pub fn risk(&self) -> Result<Risk> {
        let special_uniques =
            self.read("special_uniques", "true, or the largest size of sets", |value| match value {
                Value::Bool(is_wanted) => Some(is_wanted.then_some(None)),
                value => value.as_u64().map(|size| Some(Some(size))),
            })?;
        let order = Risk {
            target: self.path("target", PathUse::Read)?,
            data: self.path("data", PathUse::Read)?,
            quasi_identifiers: self.texts("quasi_identifiers")?,
            threshold: self.number("threshold")?.unwrap_or(THRESHOLD),
            sampled: self.read("sampled", "a share, as 0.1 or \"10%\"", |value| {
                value.as_f64().or_else(|| share(value.as_str()?).ok())
            })?,
            weight_of: self.text("weight_of")?.map(str::to_string),
            household: self.texts("household")?,
            special_uniques: special_uniques.flatten(),
            show_values: self.flag("show_values")?,
            per_record: self.flag("per_record")?,
            output: self.path("output", PathUse::Write)?,
            replace: self.flag("force")?,
        };
        self.finish()?;
        Ok(order)
    }
}

/// A criterion's value as a flag would write it.
pub(super) fn value_of_criterion(name: &str, value: &Value) -> Result<String> {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        // What JSON has no number for: a fraction, `1/3`, and a range, `10..5`.
        Value::String(text) if text.contains("..") || text.contains('/') => Ok(text.clone()),
        Value::Object(parts) if name == "recursive" => match (&parts.get("c"), &parts.get("l")) {
            (Some(Value::Number(c)), Some(Value::Number(l))) => Ok(format!("{c},{l}")),
            _ => Err(wrong("recursive is asked for as {\"c\": 2, \"l\": 3}")),
        },
        _ => Err(wrong(format!("{name} is asked for as a number"))),
    }
}
