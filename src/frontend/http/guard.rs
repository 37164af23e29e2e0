//! Who may speak to the daemon: programs of this machine, and pages that the daemon itself served.
//!
//! A page of another site reaches a loopback port through the browser of whoever visits it, directly or by making its
//! own name resolve to 127.0.0.1. Such requests carry a foreign `Origin` or `Host`, or, to pass without a preflight,
//! a body that is not JSON; each of the three is refused before the body is read.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

/// The layer before every route.
pub async fn check(request: Request, next: Next) -> Response {
    match admit(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn admit(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let host = only(headers, &HOST)?
        .ok_or_else(|| Problem::forbidden("Forbidden: the request has no Host header"))?
        .parse::<Authority>()
        .ok()
        .filter(is_loopback)
        .ok_or_else(|| {
            Problem::forbidden("Forbidden: the Host header must name this machine (127.0.0.1, localhost, [::1])")
        })?;
    if uri.authority().is_some_and(|authority| !is_loopback(authority)) {
        return Err(Problem::forbidden("Forbidden: the request names another host"));
    }
    if let Some(origin) = only(headers, &ORIGIN)? {
        let same = origin.to_ascii_lowercase() == format!("http://{}", host.as_str().to_ascii_lowercase());
        if !same {
            return Err(Problem::forbidden("Forbidden: requests from pages of another origin are refused"));
        }
    }
    if method == Method::POST && !is_json(headers) {
        return Err(Problem::media_type());
    }
    Ok(())
}

/// A header that may stand there once; two of them are a trick.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Problem::forbidden(format!("Forbidden: the header '{name}' is not text"))),
        },
        (Some(_), Some(_)) => Err(Problem::forbidden(format!("Forbidden: more than one '{name}' header"))),
    }
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    // A user name before the host (`evil@127.0.0.1`) has no place in a Host header.
    !authority.as_str().contains('@')
        && (host.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(value)) = only(headers, &CONTENT_TYPE) else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(method: Method, headers: &[(HeaderName, &str)]) -> Option<u16> {
        let map = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect::<Vec<_>>();
        let mut headers = HeaderMap::new();
        for (name, value) in map {
            headers.append(name, value);
        }
        let problem = admit(&method, &Uri::from_static("/status"), &headers).err()?;
        Some(problem.into_response().status().as_u16())
    }

    #[test]
    fn only_this_machines_names_are_hosts() {
        for own in ["127.0.0.1:8085", "localhost", "LOCALHOST:1", "127.8.9.1", "[::1]:8085", "[::1]"] {
            assert_eq!(refused(Method::GET, &[(HOST, own)]), None, "{own}");
        }
        for other in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8085",
            "0.0.0.0",
            "x@127.0.0.1",
            "",
            "[::2]",
        ] {
            assert_eq!(refused(Method::GET, &[(HOST, other)]), Some(403), "{other}");
        }
        assert_eq!(refused(Method::GET, &[]), Some(403));
        assert_eq!(refused(Method::GET, &[(HOST, "localhost"), (HOST, "evil.example")]), Some(403));
    }

    #[test]
    fn another_name_in_the_request_line_is_refused() {
        let headers = HeaderMap::from_iter([(HOST, "localhost".parse().unwrap())]);
        assert!(admit(&Method::GET, &Uri::from_static("http://evil.example/status"), &headers).is_err());
        assert!(admit(&Method::GET, &Uri::from_static("http://localhost/status"), &headers).is_ok());
    }

    #[test]
    fn only_the_daemons_own_pages_are_origins() {
        let from = |origin| refused(Method::GET, &[(HOST, "127.0.0.1:8085"), (ORIGIN, origin)]);
        assert_eq!(from("http://127.0.0.1:8085"), None);
        for other in [
            "null",
            "http://evil.example",
            "http://127.0.0.1:3000",
            "https://127.0.0.1:8085",
            "http://localhost:8085",
            "http://127.0.0.1:8085.evil.example",
        ] {
            assert_eq!(from(other), Some(403), "{other}");
        }
    }

    #[test]
    fn a_post_is_json() {
        let post = |media: &str| refused(Method::POST, &[(HOST, "localhost"), (CONTENT_TYPE, media)]);
        for json in ["application/json", "Application/JSON; charset=utf-8"] {
            assert_eq!(post(json), None, "{json}");
        }
        for other in ["text/plain", "application/x-www-form-urlencoded", "application/json-patch", ""] {
            assert_eq!(post(other), Some(415), "{other}");
        }
        assert_eq!(refused(Method::POST, &[(HOST, "localhost")]), Some(415));
    }
}
