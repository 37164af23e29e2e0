//! `GET /status`: how things stand, at once, whatever else is going on.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::state::App;
use crate::sandbox::Python;

#[derive(Serialize)]
pub struct Status {
    status: &'static str,
    port: u16,
    /// The model's name; null while the default one has not been chosen.
    model: Option<String>,
    sandbox: &'static str,
    python: &'static str,
    version: &'static str,
    error: Option<String>,
}

pub async fn status(State(app): State<Arc<App>>) -> Json<Status> {
    let standing = app.standing();
    Json(Status {
        status: standing.status,
        port: app.port,
        model: standing.model,
        sandbox: standing.sandbox,
        python: Python::VERSION,
        version: env!("CARGO_PKG_VERSION"),
        error: standing.error,
    })
}
