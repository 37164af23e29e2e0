//! The key for a model server: found in the environment alone, sent to that server alone, shown nowhere.

use std::ffi::OsString;
use std::fmt;

use crate::{Error, Result};

/// The variables, the first that is set counts.
const VARIABLES: [&str; 2] = [ApiKey::OWN, "OPENAI_API_KEY"];

/// A secret. It has no `Display`, and its `Debug` says only where it comes from.
#[derive(Clone, PartialEq)]
pub(crate) struct ApiKey {
    text: OsString,
    variable: &'static str,
}

impl ApiKey {
    pub const OWN: &'static str = "SLM_CODE_INTERPRETER_API_KEY";

    pub(super) fn find(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<Self> {
        VARIABLES.into_iter().find_map(|variable| {
            let text = environment(variable).filter(|text| !text.is_empty())?;
            Some(Self { text, variable })
        })
    }

    #[cfg(test)]
    pub fn of_test(text: &str) -> Self {
        Self { text: text.into(), variable: Self::OWN }
    }

    #[cfg(test)]
    pub fn shared_of_test(text: &str) -> Self {
        Self { text: text.into(), variable: VARIABLES[1] }
    }

    /// The name of the variable it comes from.
    pub fn variable(&self) -> &'static str {
        self.variable
    }

    /// Whether other programs use the same variable, so that it may be meant for another server.
    pub fn is_shared(&self) -> bool {
        self.variable != Self::OWN
    }

    /// The secret itself, for the header.
    ///
    /// # Errors
    /// Usage, when it cannot stand in a header; the message does not show it.
    pub fn secret(&self) -> Result<&str> {
        let text = self.text.to_str().map(str::trim).filter(|text| !text.is_empty());
        text.filter(|text| text.chars().all(|c| c.is_ascii_graphic())).ok_or_else(|| {
            Error::usage(format!("{} holds something else than one word of printable ASCII", self.variable))
                .advise("set it to the key alone, or leave it unset for a server that asks for none")
        })
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey(from {})", self.variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &'static [(&str, &str)]) -> Option<ApiKey> {
        ApiKey::find(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn our_own_variable_comes_first_and_empty_is_unset() {
        let both = found(&[("OPENAI_API_KEY", "theirs"), (ApiKey::OWN, "ours")]).unwrap();
        assert_eq!((both.secret().unwrap(), both.is_shared()), ("ours", false));
        let other = found(&[("OPENAI_API_KEY", "theirs"), (ApiKey::OWN, "")]).unwrap();
        assert_eq!((other.secret().unwrap(), other.is_shared()), ("theirs", true));
        assert!(found(&[]).is_none());
    }

    #[test]
    fn it_is_shown_nowhere() {
        for text in ["sk-secret", "sk-secret\nX-Evil: 1", "sk secret", "sk-sécret", " "] {
            let key = ApiKey::of_test(text);
            assert_eq!(format!("{key:?}"), "ApiKey(from SLM_CODE_INTERPRETER_API_KEY)");
            match key.secret() {
                Ok(secret) => assert_eq!(secret, text),
                Err(error) => {
                    let told = format!("{error:?}");
                    assert!(error.is_usage() && !told.contains("cret") && !told.contains("Evil"), "{told}");
                }
            }
        }
        assert_eq!(ApiKey::of_test("key\n").secret().unwrap(), "key");
        assert!(ApiKey::of_test("a\r\nb").secret().is_err());
    }
}
