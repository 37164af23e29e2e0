//! A model's reply: the program in it.

#[path = "../../src/agent/extract.rs"]
#[allow(clippy::module_inception, reason = "the program's name for it")]
mod extract;
#[path = "../../src/agent/plausible.rs"]
mod plausible;

/// Nothing is found that was not said: the program is no longer than the reply, and reading it once more as a reply of
/// its own does not fail either.
pub fn extract(bytes: &[u8]) {
    let reply = String::from_utf8_lossy(bytes);
    let Some(program) = extract::program(&reply) else { return };
    assert!(program.len() <= reply.len(), "{} of {} bytes", program.len(), reply.len());
    assert!(!program.trim().is_empty(), "a program of nothing");
    let _ = extract::program(&program);
}
