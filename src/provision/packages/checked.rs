//! What a guest says of a choice of wheels; data, whose words may be those of the wheels.

use serde::Deserialize;

use crate::error::OrInternal;
use crate::{Error, Result};

/// What the guest says of a choice.
#[derive(Deserialize)]
pub(crate) struct Checked {
    /// Names, as the index compares them.
    pub(crate) needed: Vec<String>,
    /// Requirements.
    pub(crate) missing: Vec<String>,
    /// Sentences.
    wrong: Vec<String>,
    /// Name, version taken, newest version.
    pub(crate) older: Vec<(String, String, String)>,
}

impl Checked {
    /// # Errors
    /// Internal: texts that our script does not send.
    pub(crate) fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text.trim()).or_internal("judging the packages")
    }

    /// # Errors
    /// Unavailable, with the first thing that is wrong.
    pub(crate) fn holds(&self) -> Result<()> {
        match self.wrong.first() {
            None => Ok(()),
            Some(wrong) => {
                let mut wrong: String = wrong.chars().filter(|c| !c.is_control()).take(300).collect();
                if self.wrong.len() > 1 {
                    wrong.push_str(&format!(" ({} more)", self.wrong.len() - 1));
                }
                Err(Error::unavailable(wrong).context("the packages do not go together").advise(
                    "name other versions, or remove the lock to choose anew; what is inside cannot be replaced",
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thing_that_is_wrong_is_told_on_one_line() {
        let told = |wrong: &str| {
            let text = format!(r#"{{"needed": ["a"], "missing": [], "wrong": {wrong}, "older": [["a", "1", "2"]]}}"#);
            Checked::read(&text).unwrap()
        };
        assert!(told("[]").holds().is_ok());
        let error = told(r#"["a needs\n b", "c"]"#).holds().unwrap_err();
        assert!(error.is_unavailable());
        assert_eq!(error.to_string(), "the packages do not go together: a needs b (1 more)");
        assert!(Checked::read("{}").is_err() && Checked::read("Traceback").is_err());
    }
}
