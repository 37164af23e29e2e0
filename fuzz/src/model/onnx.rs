//! An ONNX file, looked through for what ONNX Runtime would follow.

#[path = "../../../src/model/onnx/file.rs"]
mod file;

use std::io::Cursor;

/// Nothing is found that is not written in the file.
///
/// The first byte says how much shorter than these bytes the file says that it is, as one that grows while it is read.
pub fn onnx(bytes: &[u8]) {
    let Some((shorter, bytes)) = bytes.split_first() else { return };
    let len = bytes.len().saturating_sub(usize::from(*shorter));
    let Ok(facts) = file::facts_of(Cursor::new(bytes), len as u64) else { return };
    let said = |name: &str| bytes[..len].windows(name.len()).any(|window| window == name.as_bytes());
    for (location, end) in &facts.external {
        assert!(!location.is_empty() && said(location), "weights in `{location}` up to {end}, which was not said");
    }
    for file::Pair { past, present } in &facts.shared {
        assert!(!past.is_empty() && !present.is_empty() && past != present, "`{past}` is written over by `{present}`");
        assert!(said(past) && said(present), "`{past}` and `{present}` were not said");
    }
}
