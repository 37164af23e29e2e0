//! What a client is told when its request comes to nothing: a status and `{"error": "…"}`.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, HeaderName, HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};

use crate::Error;
use crate::frontend::json;

#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    text: String,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Problem {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), header: None }
    }

    /// Something in the request that the client can put right.
    pub fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    pub fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not found (there are GET /status, POST /execute, POST /v1/exec)")
    }

    pub fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed")
    }

    pub fn media_type() -> Self {
        let text = "Unsupported media type: send the header 'Content-Type: application/json'";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
    }

    /// The rest of the body is not read, so the connection cannot go on.
    pub fn too_large(most: usize) -> Self {
        let text = format!("Request body too large: at most {most} bytes");
        Self::closing(Self::new(StatusCode::PAYLOAD_TOO_LARGE, text))
    }

    /// The body is not read, so the connection cannot go on.
    pub fn too_many_large() -> Self {
        let text = "Too busy: as many requests with large bodies as there may be are under way; try again";
        Self::closing(Self::new(StatusCode::SERVICE_UNAVAILABLE, text))
    }

    pub fn too_slow() -> Self {
        Self::closing(Self::new(StatusCode::REQUEST_TIMEOUT, "The request body did not arrive in time"))
    }

    /// Not now; worth another try in so many seconds.
    pub fn later(text: impl Into<String>, seconds: u32) -> Self {
        let header = Some((RETRY_AFTER, HeaderValue::from(seconds)));
        Self { header, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, text) }
    }

    /// As many sessions, or as much of their memory, as may be; what exactly, and the advice, are for whoever runs the
    /// daemon, not for its clients.
    pub fn busy(error: &Error) -> Self {
        log::warn!("{error}");
        Self::later("Too busy: there is no room for another session now; try again", 1)
    }

    /// Not before somebody does something about it.
    pub fn unavailable(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    pub fn failed(text: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    fn closing(self) -> Self {
        Self { header: Some((CONNECTION, HeaderValue::from_static("close"))), ..self }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json::failure(&self.text))).into_response();
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_too_much_of_is_not_guessed() {
        for error in [Error::busy("64 sessions are alive"), Error::busy("there is no memory left")] {
            let problem = Problem::busy(&error);
            assert_eq!(
                (problem.status, problem.text.contains("every session")),
                (StatusCode::SERVICE_UNAVAILABLE, false)
            );
            assert!(problem.text.starts_with("Too busy: ") && problem.header.is_some());
        }
    }
}
