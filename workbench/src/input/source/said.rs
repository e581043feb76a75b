//! What a file says of a column beside its name, kept in the metadata of its field.

use std::collections::BTreeMap;

use arrow_schema::Field;

/// What programs of statistics say of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What it is called at length.
    pub label: String,
    /// The codes that are read as their labels.
    pub codes: BTreeMap<i32, String>,
}

/// What it is called in the metadata of a field.
const LABEL: &str = "label";
const CODES: &str = "codes";

impl Said {
    /// What is said of a field.
    pub fn of(field: &Field) -> Said {
        let metadata = field.metadata();
        Said {
            label: metadata.get(LABEL).cloned().unwrap_or_default(),
            codes: metadata.get(CODES).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
        }
    }

    /// The field with what is said of it.
    pub fn on(self, field: Field) -> Field {
        let mut metadata = field.metadata().clone();
        if !self.label.is_empty() {
            metadata.insert(LABEL.to_string(), self.label);
        }
        if !self.codes.is_empty() {
            metadata.insert(CODES.to_string(), serde_json::to_string(&self.codes).expect("codes and texts"));
        }
        field.with_metadata(metadata)
    }
}
