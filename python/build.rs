//! Lets the linker leave the functions of Python to whoever loads the module, also where cargo builds it alone.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
