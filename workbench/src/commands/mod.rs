//! One file per command.

pub mod init;
pub mod profile;
pub mod hierarchy;
pub mod count;
pub mod annotate;
pub mod negotiate;
pub mod frontier;
pub mod compare;
pub mod verify;
pub mod attack;
pub mod risk;
pub mod map;
pub mod publish;
pub mod demo;
pub mod study_lattice;
pub mod study;
pub mod serve;
