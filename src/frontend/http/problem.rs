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

    /// Every session there may be is alive; the advice is for whoever runs the daemon, not for its clients.
    pub fn busy(error: &Error) -> Self {
        log::warn!("{error}");
        Self::later("Too busy: every session there may be is alive; try again", 1)
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
