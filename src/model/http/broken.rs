//! What can break between here and a server, told apart by what a person can do about it.

use std::io::ErrorKind;

/// How the connection failed.
#[derive(Debug, PartialEq)]
pub(in crate::model) enum Broken {
    /// Nobody listens there.
    Refused,
    UnknownHost,
    /// The connection was not made in time.
    Unconnected,
    /// It was made, and then nothing came for as long as may be waited.
    Silent,
    /// It was closed before the answer, or the answer, had ended.
    Cut,
    Tls(String),
    /// The certificate is not trusted.
    Certificate(String),
    Proxy(String),
    /// It answers, but not in HTTP.
    NotHttp(String),
    /// No way leads there.
    Network(String),
    Other(String),
}

impl Broken {
    pub fn of(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Io(error) => Self::of_io(&error),
            ureq::Error::HostNotFound => Self::UnknownHost,
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Self::Unconnected,
            ureq::Error::Timeout(_) => Self::Silent,
            ureq::Error::Tls(why) => Self::Tls(why.into()),
            ureq::Error::Rustls(error) => Self::of_tls(error.to_string()),
            ureq::Error::ConnectProxyFailed(why) => Self::Proxy(why),
            ureq::Error::ConnectionFailed => Self::Network(error.to_string()),
            ureq::Error::Protocol(error) => Self::NotHttp(error.to_string()),
            ureq::Error::LargeResponseHeader(..) => Self::NotHttp(error.to_string()),
            error => Self::Other(error.to_string()),
        }
    }

    fn of_io(error: &std::io::Error) -> Self {
        let text = error.to_string();
        match error.kind() {
            ErrorKind::ConnectionRefused => Self::Refused,
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::Silent,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof => Self::Cut,
            ErrorKind::InvalidData => Self::of_tls(text),
            // The standard library has no kind of its own for it: the words of Unix, and of Windows.
            _ if text.contains("lookup address") || text.contains("No such host") => Self::UnknownHost,
            _ => Self::Network(text),
        }
    }

    fn of_tls(text: String) -> Self {
        match text.to_ascii_lowercase().contains("certificate") {
            true => Self::Certificate(text),
            false => Self::Tls(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_errors_are_told_apart() {
        let io = |kind: ErrorKind| Broken::of(ureq::Error::Io(kind.into()));
        assert_eq!(io(ErrorKind::ConnectionRefused), Broken::Refused);
        assert_eq!(io(ErrorKind::UnexpectedEof), Broken::Cut);
        assert_eq!(io(ErrorKind::TimedOut), Broken::Silent);
        assert!(matches!(io(ErrorKind::InvalidData), Broken::Tls(_)));
        assert!(matches!(io(ErrorKind::NetworkUnreachable), Broken::Network(_)));
        let lookup = std::io::Error::other("failed to lookup address information");
        assert_eq!(Broken::of(ureq::Error::Io(lookup)), Broken::UnknownHost);
        let untrusted = std::io::Error::new(ErrorKind::InvalidData, "invalid peer certificate");
        assert!(matches!(Broken::of(ureq::Error::Io(untrusted)), Broken::Certificate(_)));
        assert_eq!(Broken::of(ureq::Error::HostNotFound), Broken::UnknownHost);
        assert_eq!(Broken::of(ureq::Error::Timeout(ureq::Timeout::PerRead)), Broken::Silent);
        assert_eq!(Broken::of(ureq::Error::Timeout(ureq::Timeout::Connect)), Broken::Unconnected);
    }
}
