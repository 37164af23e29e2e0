//! Packages that the user names: pure-Python wheels, chosen and fetched by pip, locked by their hashes, unpacked once.
//!
//! [`request`] is what was asked for and [`lock`] what that became; [`inside`] is what the interpreter has already;
//! [`choose`] asks pip, and [`log`] reads what it says to it; [`store`] keeps locks and wheels; [`unpack`] is the
//! boundary to the wheels, which are untrusted. What a wheel asks for is looked at in the guest alone, by
//! `sandbox::packages`, which also decides whether a choice holds.

mod checked;
mod choose;
mod inside;
mod lock;
mod log;
mod request;
mod store;
#[cfg(all(test, unix))]
mod tests;
mod unpack;

pub(crate) use checked::Checked;
pub(crate) use inside::Inside;
pub(crate) use lock::Lock;
pub use request::PackageRequest;
pub(crate) use store::{SITE, Store};
pub(crate) use unpack::Room;

/// The guest's answers to environment markers, as `packaging.markers.default_environment` gives them there.
pub(crate) const MARKERS: [(&str, &str); 11] = [
    ("implementation_name", "cpython"),
    ("implementation_version", "3.15.0"),
    ("os_name", "posix"),
    ("platform_machine", "wasm32"),
    ("platform_python_implementation", "CPython"),
    ("platform_release", "0.0.0"),
    ("platform_system", "wasi"),
    ("platform_version", "0.0.0"),
    ("python_full_version", "3.15.0"),
    ("python_version", "3.15"),
    ("sys_platform", "wasi"),
];

/// A name as the index compares it: lower case, with one `-` for any run of `-`, `_` and `.`.
pub(crate) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for part in name.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        if !normal.is_empty() {
            normal.push('-');
        }
        normal.push_str(&part.to_ascii_lowercase());
    }
    normal
}

/// Whether it can stand in a file's name and in a requirement: letters, digits, and what versions have besides.
fn is_version(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".+!_-".contains(&byte);
    !text.is_empty()
        && text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(plain)
}
