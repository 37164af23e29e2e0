//! What standard input is, where descriptors have no file type to ask for.

use std::io::IsTerminal;

/// Anything but a terminal; the null device ends at once, and a silent pipe is given up after a while.
pub fn carries_data() -> bool {
    !std::io::stdin().is_terminal()
}
