//! All tests in one program, which is quicker to build than one for each file; what compares times has programs of its own.

mod common;
mod counted_as;
mod criteria;
mod deal;
mod errors;
mod frontier;
mod keep;
mod labels;
mod laws;
mod local;
mod many_attributes;
mod mixes;
mod modules;
mod on_demand;
mod partial;
mod people;
mod per_record;
mod promises;
mod saved;
mod small_world;
mod special_uniques;
mod tells;
mod twins;
mod updates;
