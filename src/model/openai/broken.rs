//! What can break between here and a server, told apart by what a person can do about it.

use std::io::ErrorKind;

use super::base_url::BaseUrl;
use crate::Error;

/// How the connection failed.
#[derive(Debug, PartialEq)]
pub(super) enum Broken {
    /// Nobody listens there.
    Refused,
    UnknownHost,
    /// The connection was not made in time.
    Timeout,
    /// It was closed before the answer, or the answer, had ended.
    Cut,
    Tls(String),
    /// The certificate is not trusted.
    Certificate(String),
    Proxy(String),
    /// It answers, but not in HTTP.
    NotHttp(String),
    Other(String),
}

impl Broken {
    pub fn of(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Io(error) => Self::of_io(&error),
            ureq::Error::HostNotFound => Self::UnknownHost,
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::Tls(why) => Self::Tls(why.into()),
            ureq::Error::Rustls(error) => Self::of_tls(error.to_string()),
            ureq::Error::ConnectProxyFailed(why) => Self::Proxy(why),
            ureq::Error::Protocol(error) => Self::NotHttp(error.to_string()),
            ureq::Error::LargeResponseHeader(..) => Self::NotHttp(error.to_string()),
            error => Self::Other(error.to_string()),
        }
    }

    fn of_io(error: &std::io::Error) -> Self {
        let text = error.to_string();
        match error.kind() {
            ErrorKind::ConnectionRefused => Self::Refused,
            ErrorKind::TimedOut => Self::Timeout,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof => Self::Cut,
            ErrorKind::InvalidData => Self::of_tls(text),
            // The standard library has no kind of its own for it: the words of Unix, and of Windows.
            _ if text.contains("lookup address") || text.contains("No such host") => Self::UnknownHost,
            _ => Self::Other(text),
        }
    }

    fn of_tls(text: String) -> Self {
        match text.to_ascii_lowercase().contains("certificate") {
            true => Self::Certificate(text),
            false => Self::Tls(text),
        }
    }

    /// Whether the same may go well in a moment.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Refused | Self::Cut)
    }

    pub fn error(self, url: &BaseUrl) -> Error {
        let failed = |why: &str| Error::unavailable(format!("the model server {url} {why}"));
        match self {
            Self::Refused => failed("refuses the connection: nothing listens there")
                .advise("start the server, or correct the port in --base-url"),
            Self::UnknownHost => {
                failed("cannot be found: its name has no address").advise("check the host's name in --base-url")
            }
            Self::Timeout => failed("did not accept the connection in time").advise(match url.is_https() {
                true => "check --base-url: a server without certificate is reached by http://, not https://",
                false => "check host and port in --base-url, and that no firewall stands between",
            }),
            Self::Cut => failed("closed the connection before it had answered")
                .advise("look at the server's own log; it may have run out of memory"),
            Self::Certificate(why) => failed(&format!("has a certificate that is not trusted: {why}"))
                .advise("add the authority that signed it to this machine's certificates, or correct the host's name"),
            Self::Tls(why) => failed(&format!("does not speak TLS as it should: {why}"))
                .advise("a server without certificate is reached by http://, not https://"),
            Self::Proxy(why) => failed(&format!("is not reached through the proxy: {why}"))
                .advise(format!("correct HTTPS_PROXY or HTTP_PROXY, or add {} to NO_PROXY", url.host())),
            Self::NotHttp(why) => failed(&format!("answers, but not in HTTP/1.1: {why}"))
                .advise("check the port in --base-url; a server that speaks TLS is reached by https://"),
            Self::Other(why) => failed(&format!("cannot be reached: {why}")).advise("check --base-url and the network"),
        }
    }
}
