//! What Python loads: thin wrappers over the engine and the workbench, which speak the words of `--json`.
//!
//! Modules stand in reading order; each uses only those above it. `python/incrowd` makes plain objects of the words.

use pyo3::prelude::*;

mod words;
mod work;
mod columns;
mod restore;
mod frame;
mod wish;
mod table;
mod release;
mod tools;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::frame::Frame;
    #[pymodule_export]
    use super::release::Release;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::tools::{
        attack, hierarchies_of_toml, init_file, init_frame, profile_file, profile_frame, serve, study_deal, text_of,
        verify, write_demo,
    };

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::{PyAnyMethods, PyModuleMethods};
        incrowd_workbench::input::source::quiet_guarded_panics();
        // Drivers of databases that are installed as packages are found as packages are.
        let folders: Vec<std::path::PathBuf> = module.py().import("sys")?.getattr("path")?.extract()?;
        incrowd_workbench::input::database::look_in(folders);
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
