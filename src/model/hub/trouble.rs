//! What can go wrong between here and the hub, and what a person is told about it.

use std::time::Duration;

use crate::Error;
use crate::model::http::Broken;

#[derive(Debug)]
pub(super) enum Trouble {
    /// No connection came about: no network, no such host, nobody listens.
    Unreachable(String),
    /// The other side could not prove who it is, or speaks something else.
    Tls(String),
    /// Nothing came for as long as may be waited.
    Silent,
    /// The connection ended too early.
    Cut(String),
    Status {
        code: u16,
        /// What the hub itself says about it, as `GatedRepo`, `EntryNotFound`.
        reason: String,
        retry_after: Option<Duration>,
    },
    /// Something that no hub would say.
    Odd(String),
    /// Not the hub's: this machine's, or a cancel.
    Ours(Error),
}

impl Trouble {
    /// Whether the same may go well a moment later.
    pub fn passes(&self) -> bool {
        match self {
            Self::Silent | Self::Cut(_) => true,
            Self::Status { code, .. } => matches!(code, 408 | 429 | 500..=599),
            Self::Unreachable(_) | Self::Tls(_) | Self::Odd(_) | Self::Ours(_) => false,
        }
    }

    /// What happened, as a clause.
    pub fn what(&self) -> String {
        match self {
            Self::Unreachable(why) => format!("the hub cannot be reached: {why}"),
            Self::Tls(why) => format!("no secure connection to the hub comes about: {why}"),
            Self::Silent => "the hub stopped answering".into(),
            Self::Cut(why) => format!("the connection was cut: {why}"),
            Self::Status { code: 429, .. } => "the hub is asked too often (429)".into(),
            Self::Status { code, .. } => format!("the hub answered {code}"),
            Self::Odd(why) => why.clone(),
            Self::Ours(error) => error.to_string(),
        }
    }

    /// The error about fetching from `repo` (`org/name`), whose page is at `page`; `token`: one was sent.
    pub fn error(self, repo: &str, page: &str, token: bool) -> Error {
        if let Self::Ours(error) = self {
            return error;
        }
        let (what, advice) = match &self {
            Self::Status { code: 401 | 403 | 404, reason, .. } => denied(self.code(), reason, page, token),
            Self::Unreachable(_) => (
                self.what(),
                "check the network and HTTPS_PROXY; without network, name a .gguf file or a model that `slm-code-interpreter setup --check` lists"
                    .to_owned(),
            ),
            Self::Tls(_) => (
                self.what(),
                "behind a proxy that opens TLS, set SSL_CERT_FILE to its certificate; check the clock".into(),
            ),
            Self::Silent | Self::Cut(_) => {
                (self.what(), "run it again: what has come is kept, and it goes on from there".into())
            }
            Self::Status { code: 429, .. } => {
                (self.what(), "wait a few minutes; with HF_TOKEN set the hub allows more".into())
            }
            Self::Status { .. } => (self.what(), "it may be down; run it again later: what has come is kept".into()),
            Self::Odd(_) => (self.what(), "check HF_ENDPOINT and any proxy in between".into()),
            Self::Ours(_) => (self.what(), String::new()),
        };
        Error::unavailable(what).context(format!("the model {repo} from the hub")).advise(advice)
    }

    pub fn code(&self) -> u16 {
        if let Self::Status { code, .. } = self { *code } else { 0 }
    }
}

/// The hub answers 401 for what does not exist too, so as not to tell who may not know.
fn denied(code: u16, reason: &str, page: &str, token: bool) -> (String, String) {
    match (code, reason) {
        (403, _) | (_, "GatedRepo") => (
            format!("its owner wants to know who takes it ({code})"),
            match token {
                true => format!("accept the licence on {page} with the account of your token"),
                false => format!("accept the licence on {page}, then set HF_TOKEN (or `hf auth login`)"),
            },
        ),
        (404, "RevisionNotFound") => ("it has no such revision (404)".into(), format!("see {page} for its branches")),
        (404, "EntryNotFound") => ("it has no such file (404)".into(), format!("see {page}/tree/main for its files")),
        (404, _) => ("there is no such model (404)".into(), format!("check the name at {page}")),
        (_, _) if token => (
            format!("there is no such model, or the token may not see it ({code})"),
            format!("check the name at {page}, and HF_TOKEN"),
        ),
        _ => (
            format!("there is no such model, or it is not public ({code})"),
            format!("check the name at {page}; for one that is private set HF_TOKEN (or `hf auth login`)"),
        ),
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<ureq::Error> for Trouble {
    fn from(error: ureq::Error) -> Self {
        match Broken::of(error) {
            Broken::Refused => Self::Unreachable("nothing listens there".into()),
            Broken::UnknownHost => Self::Unreachable("no such host, or no network".into()),
            Broken::Unconnected => Self::Unreachable("no connection in time".into()),
            Broken::Network(why) => Self::Unreachable(why),
            Broken::Proxy(why) => Self::Unreachable(format!("the proxy refuses: {why}")),
            Broken::Silent => Self::Silent,
            Broken::Cut => Self::Cut("it ended too early".into()),
            Broken::Tls(why) | Broken::Certificate(why) => Self::Tls(why),
            Broken::NotHttp(why) | Broken::Other(why) => Self::Odd(format!("the hub's answer makes no sense: {why}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: u16, reason: &str, token: bool) -> (String, String) {
        let trouble = Trouble::Status { code, reason: reason.into(), retry_after: None };
        let error = trouble.error("org/name", "https://hub/org/name", token);
        assert!(error.is_unavailable());
        (error.to_string(), error.advice().unwrap().to_owned())
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        let (what, advice) = told(401, "GatedRepo", false);
        assert!(
            what.contains("owner wants to know") && advice.contains("HF_TOKEN") && advice.contains("licence"),
            "{what} {advice}"
        );
        let (_, advice) = told(403, "", true);
        assert!(advice.contains("licence on https://hub/org/name with the account"), "{advice}");
        assert!(told(401, "RepoNotFound", false).0.contains("no such model, or it is not public"));
        assert!(told(401, "", true).1.contains("and HF_TOKEN"));
        assert!(told(404, "RepoNotFound", false).0.contains("no such model (404)"));
        assert!(told(404, "RevisionNotFound", false).0.contains("no such revision"));
        assert!(told(404, "EntryNotFound", false).0.contains("no such file"));
        assert!(told(429, "", false).1.contains("HF_TOKEN set"));
        assert!(told(503, "", false).0.contains("answered 503"));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let status = |code| Trouble::Status { code, reason: String::new(), retry_after: None }.passes();
        assert!(status(429) && status(500) && status(503) && status(408));
        assert!(!status(401) && !status(404) && !status(416));
        assert!(Trouble::Silent.passes() && Trouble::Cut(String::new()).passes());
        assert!(!Trouble::Unreachable(String::new()).passes() && !Trouble::Tls(String::new()).passes());
    }

    #[test]
    fn what_breaks_is_told_as_what_it_means_here() {
        let io = |kind: std::io::ErrorKind| Trouble::from(ureq::Error::Io(kind.into()));
        assert!(matches!(io(std::io::ErrorKind::ConnectionRefused), Trouble::Unreachable(_)));
        assert!(matches!(io(std::io::ErrorKind::UnexpectedEof), Trouble::Cut(_)));
        assert!(matches!(io(std::io::ErrorKind::InvalidData), Trouble::Tls(_)));
        assert!(matches!(ureq::Error::HostNotFound.into(), Trouble::Unreachable(_)));
        assert!(matches!(ureq::Error::Timeout(ureq::Timeout::PerRead).into(), Trouble::Silent));
        assert!(matches!(ureq::Error::Timeout(ureq::Timeout::Connect).into(), Trouble::Unreachable(_)));
    }
}
