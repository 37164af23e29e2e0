//! Notices when the model turns in circles.

use std::collections::HashSet;

/// How a failed program compares with those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    New,
    SameError,
    SameProgram,
    /// The same program again, although the model was told.
    Stuck,
}

#[derive(Debug, Default)]
pub(super) struct Circles {
    programs: HashSet<String>,
    last_error: Option<String>,
    /// It was told that it repeats itself.
    told: bool,
}

impl Circles {
    pub(super) fn notice(&mut self, code: &str, error: String) -> Turn {
        let repeated = !self.programs.insert(normal(code));
        let same_error = self.last_error.as_ref() == Some(&error);
        self.last_error = Some(error);
        if repeated {
            let told = std::mem::replace(&mut self.told, true);
            return if told { Turn::Stuck } else { Turn::SameProgram };
        }
        if same_error { Turn::SameError } else { Turn::New }
    }
}

/// Programs are the same when they differ in blank lines and trailing space only.
fn normal(code: &str) -> String {
    code.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_program_is_said_once_and_then_ends_it() {
        let mut circles = Circles::default();
        assert_eq!(circles.notice("a\n", "e".to_owned()), Turn::New);
        assert_eq!(circles.notice("a  \n\n", "e".to_owned()), Turn::SameProgram);
        assert_eq!(circles.notice("b", "f".to_owned()), Turn::New);
        assert_eq!(circles.notice("b", "f".to_owned()), Turn::Stuck);
    }

    #[test]
    fn the_same_error_from_another_program() {
        let mut circles = Circles::default();
        assert_eq!(circles.notice("a", "e".to_owned()), Turn::New);
        assert_eq!(circles.notice("b", "e".to_owned()), Turn::SameError);
        assert_eq!(circles.notice("c", "f".to_owned()), Turn::New);
    }
}
