//! The words that `--json`, files, HTTP and Python share: the only types here that are written and read as JSON.

pub mod json;
pub mod written;
pub mod certificate;
pub mod claims;

pub use certificate::{
    Certificate, CountAt, Dealt, DealtAttribute, Distribution, FileHash, HowFound, PerRecord, PerRecordOutcome,
    is_shown, per_record_statement,
};
pub use claims::{
    Claim, NEEDS_PEOPLE, check_claims, check_dealt, check_per_record, check_release, finding_reached, needed_to_judge,
    ruling, verdict,
};
pub use json::{
    criteria, criterion_of, explanation, key, levels, losses_of_cells, losses_of_judgement, losses_of_release,
    measure_of, number, on_demand, partial, request_of, rounded, sensitive_names, share, value,
};
pub use written::{Said, WrittenAnswer, WrittenOffer, answer, losses, offer, request};
