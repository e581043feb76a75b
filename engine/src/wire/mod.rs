//! The words that `--json`, files, HTTP and Python share: the only types here that are written and read as JSON.

pub mod json;
pub mod written;
pub mod certificate;
pub mod claims;

pub use certificate::{
    Certificate, CertifiedWish, Coarser, CountAt, Dealt, DealtAttribute, Distances, Distribution, FileHash, FromLevel,
    GoalSaid, GroupDistance, HowFound, LabelsSaid, OriginalSaid, PerRecord, PerRecordOutcome, is_shown, originals,
    per_record_statement, published_as, words_of,
};
pub use claims::{
    Claim, NEEDS_PEOPLE, check_claims, check_dealt, check_per_record, check_release, finding_reached, needed_to_judge,
    promised, promised_and_reached, ruling, verdict,
};
pub use json::{
    asked_of_method, criteria, criterion_of, explanation, key, key_among, level_names, levels, local_request_of,
    loss_limits, losses_of_cells, losses_of_judgement, losses_of_release, measure_of, number, on_demand, partial,
    request_of, rounded, sensitive_names, share, value,
};
pub use written::{Said, WrittenAnswer, WrittenOffer, answer, losses, offer, request};
