//! Reads a request's body: bounded in bytes and in time, and a JSON object or nothing.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::header::EXPECT;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::problem::Problem;

/// The largest body that is taken.
pub const MOST_BYTES: usize = 8 << 20;
/// A body that is too large is read on and thrown away up to here, so that its sender, who is still writing, gets to
/// read the refusal instead of a broken connection.
const MOST_DRAINED: usize = 64 << 20;
/// A body of the largest size takes milliseconds on this machine.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The fields of a request whose body is a JSON object.
#[derive(Debug)]
pub struct Fields(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = read(request, MOST_BYTES, PATIENCE).await?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(Problem::bad("Invalid JSON payload: expected an object")),
            Err(error) => Err(Problem::bad(format!("Invalid JSON payload: {error}"))),
        }
    }
}

impl Fields {
    /// The text under `name`; an empty one is as good as none.
    pub fn text(&self, name: &str) -> Result<&str, Problem> {
        match self.0.get(name) {
            None | Some(Value::Null) => Err(Problem::bad(format!("Missing field: '{name}'"))),
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(Problem::bad(format!("Missing field: '{name}'")))
            }
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Problem::bad(format!("Invalid field: '{name}' must be a string"))),
        }
    }
}

async fn read(request: Request, most: usize, patience: Duration) -> Result<Vec<u8>, Problem> {
    let waits_for_leave = request.headers().contains_key(EXPECT);
    let body = request.into_body();
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > MOST_DRAINED || (announced > most && waits_for_leave) {
        return Err(Problem::too_large(most));
    }
    timeout(patience, collect(body, most)).await.map_err(|_| Problem::too_slow())?
}

/// All of `body`; when it is more than `most`, only its end is awaited.
async fn collect(mut body: Body, most: usize) -> Result<Vec<u8>, Problem> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = std::future::poll_fn(|context| std::pin::Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Problem::bad(format!("The request body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > MOST_DRAINED {
            break;
        }
        if length <= most {
            bytes.extend_from_slice(&data);
        } else {
            bytes = Vec::new();
        }
    }
    if length > most { Err(Problem::too_large(most)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::Bytes;
    use axum::response::IntoResponse;
    use hyper::body::Frame;

    use super::*;

    /// A body of which nothing more comes, and which does not end.
    struct Silent;

    impl HttpBody for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    fn refused(body: Body) -> Option<u16> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let problem = runtime.block_on(read(Request::new(body), 4, Duration::ZERO)).err()?;
        Some(problem.into_response().status().as_u16())
    }

    #[test]
    fn a_body_that_does_not_come_is_not_waited_for() {
        assert_eq!(refused(Body::new(Silent)), Some(408));
    }

    #[test]
    fn the_bound_is_the_last_size_that_is_taken() {
        assert_eq!(refused(Body::from("1234")), None);
        assert_eq!(refused(Body::from("12345")), Some(413));
    }
}
