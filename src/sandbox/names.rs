//! Names that Python may give to files and that a host may not take.

/// Whether this machine takes it for the name of a file or folder of that name. On others than Windows all that Python can
/// give are.
pub(super) fn is_host_name(name: &str) -> bool {
    !cfg!(windows) || is_windows_name(name)
}

/// Whether Windows takes it for the name of a file or folder of that name: it has characters, endings and whole names that
/// mean something else there (`C:`, streams, devices), and gives no error for most of them.
fn is_windows_name(name: &str) -> bool {
    const FORBIDDEN: [char; 9] = ['<', '>', ':', '"', '/', '\\', '|', '?', '*'];
    let device = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |kind: &str| {
        device.strip_prefix(kind).is_some_and(|rest| {
            matches!(rest, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        })
    };
    !name.is_empty()
        && !name.chars().any(|c| c.is_control() || FORBIDDEN.contains(&c))
        && !name.ends_with(['.', ' '])
        && !matches!(device.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        && !numbered("COM")
        && !numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_else_on_windows_is_no_name_there() {
        for name in ["a", "größe x.txt", ".hidden", "console", "com10", "lpt", "nul_", "a.con", "\u{202e}"] {
            assert!(is_windows_name(name), "{name:?}");
        }
        for name in [
            "", "a:b", "C:", "a\\b", "a/b", "a\nb", "a\0", "a.", "a ", "..", "con", "CON.txt", "nul .x", "Com1",
            "lpt9.a.b", "COM²", "a?", "a*", "<a>", "\"", "|",
        ] {
            assert!(!is_windows_name(name), "{name:?}");
        }
    }
}
