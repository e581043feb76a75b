//! From the cells of a column to codes.

use std::hash::{BuildHasher, Hasher};

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::error::{Error, ErrorKind, Result};
use crate::table::cells::Cells;
use crate::table::dates::date_text;
use crate::table::domain::Domain;
use crate::table::missing::Missing;

/// Turns the cells of one column into provisional codes, batch after batch.
///
/// Code 0 always means "no value"; the others are given in order of appearance
/// and become canonical when the [`Domain`] is made.
pub struct Encoder {
    name: String,
    tokens: Vec<String>,
    /// A closed encoder gives no code to values that it does not know.
    closed: bool,
    values: Vec<String>,
    by_text: HashTable<u32>,
    by_integer: IntegerIndex,
    by_day: IntegerIndex,
}

/// What a closed encoder says of a value that it does not know.
pub(crate) const UNSEEN: u32 = u32::MAX;

impl Encoder {
    /// An encoder for the column of a name, which knows no value yet.
    pub fn new(name: &str, missing: &Missing) -> Encoder {
        Encoder {
            name: name.to_string(),
            tokens: missing.tokens.clone(),
            closed: false,
            values: vec![String::new()],
            by_text: HashTable::new(),
            by_integer: IntegerIndex::default(),
            by_day: IntegerIndex::default(),
        }
    }

    /// An encoder whose code minus one is the domain's code; 0 is missing, and the greatest code is any other value.
    pub fn of_domain(domain: &Domain, missing: &Missing) -> Encoder {
        let mut encoder = Encoder::new(domain.name(), missing);
        for (_, value) in domain.present() {
            encoder.code_of_text(value).expect("an open encoder takes any value");
        }
        encoder.closed = true;
        encoder
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many codes have been given, the one for "no value" included.
    pub fn n_codes(&self) -> usize {
        self.values.len()
    }

    /// The value behind each provisional code; the first is "no value".
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Replaces `codes` by the codes of a column's cells.
    ///
    /// # Errors
    /// Where the column's type cannot be read, or has more values than can be numbered.
    pub fn encode(&mut self, column: &ArrayRef, codes: &mut Vec<u32>) -> Result<()> {
        codes.clear();
        codes.reserve(column.len());
        let cells = Cells::new(&self.name, column)?;
        self.encode_cells(&cells, codes)
    }

    fn encode_cells(&mut self, cells: &Cells, codes: &mut Vec<u32>) -> Result<()> {
        match cells {
            Cells::Integers(values, nulls) => {
                self.encode_integers(values, nulls.as_ref(), codes, |e| &mut e.by_integer, |value| value.to_string())
            }
            Cells::Days(values, nulls) => {
                self.encode_integers(values, nulls.as_ref(), codes, |e| &mut e.by_day, date_text)
            }
            Cells::Dictionary { keys, nulls, values } => {
                // A dictionary may list values that no record has; only those that occur get a code.
                let mut code_of_key = vec![UNSEEN; values.len()];
                let mut text = String::new();
                for (i, &key) in keys.iter().enumerate() {
                    if nulls.as_ref().is_some_and(|nulls| nulls.is_null(i)) {
                        codes.push(0);
                        continue;
                    }
                    let mut code = code_of_key[key];
                    if code == UNSEEN {
                        code = match values.read(key, &mut text) {
                            true => self.code_of_text(&text)?,
                            false => 0,
                        };
                        code_of_key[key] = code;
                    }
                    codes.push(code);
                }
                Ok(())
            }
            _ => {
                for i in 0..cells.len() {
                    codes.push(match cells.str_at(i) {
                        Some(text) => self.code_of_text(text)?,
                        None => 0,
                    });
                }
                Ok(())
            }
        }
    }

    fn encode_integers(
        &mut self,
        values: &[i64],
        nulls: Option<&NullBuffer>,
        codes: &mut Vec<u32>,
        index: impl Fn(&mut Encoder) -> &mut IntegerIndex,
        text: impl Fn(i64) -> String,
    ) -> Result<()> {
        for (i, &value) in values.iter().enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(i)) {
                codes.push(0);
                continue;
            }
            let mut code = index(self).get(value);
            if code == UNSEEN {
                code = self.code_of_text(&text(value))?;
                index(self).insert(value, code);
            }
            codes.push(code);
        }
        Ok(())
    }

    /// The code of a text, which gets one if it is new.
    ///
    /// # Errors
    /// Where there are more values than can be numbered.
    pub fn code_of_text(&mut self, text: &str) -> Result<u32> {
        let hash = hash_text(text);
        if let Some(&code) = self.by_text.find(hash, |&code| self.values[code as usize] == text) {
            return Ok(code);
        }
        if self.tokens.iter().any(|token| token == text) {
            return Ok(0);
        }
        if self.closed {
            return Ok(UNSEEN);
        }
        let code = u32::try_from(self.values.len()).ok().filter(|&code| code != UNSEEN).ok_or_else(|| {
            Error::new(ErrorKind::TooLarge, format!("column '{}' has too many distinct values", self.name))
        })?;
        self.values.push(text.to_string());
        let values = &self.values;
        self.by_text.insert_unique(hash, code, |&code| hash_text(&values[code as usize]));
        Ok(code)
    }
}

fn hash_text(text: &str) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Integer to code: an array for the small numbers that ages, counts and dates are, a map for the rest.
#[derive(Default)]
struct IntegerIndex {
    small: Vec<u32>,
    large: FxHashMap<i64, u32>,
}

const N_SMALL: usize = 1 << 16;

impl IntegerIndex {
    #[inline]
    fn get(&self, value: i64) -> u32 {
        match self.small.get(value as usize) {
            Some(&code) => code,
            None => self.large.get(&value).copied().unwrap_or(UNSEEN),
        }
    }

    fn insert(&mut self, value: i64, code: u32) {
        match usize::try_from(value) {
            Ok(value) if value < N_SMALL => {
                if self.small.len() <= value {
                    self.small.resize(value + 1, UNSEEN);
                }
                self.small[value] = code;
            }
            _ => {
                self.large.insert(value, code);
            }
        }
    }
}
