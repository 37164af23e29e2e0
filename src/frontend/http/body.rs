//! Reads a request's body: bounded in bytes and in time, and a JSON object or nothing.
//!
//! Nothing is built of what a request does not need, since a tree of values takes fifty times the bytes that it is read
//! from. Large bodies, and what is taken of them, are in memory a few at a time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::header::EXPECT;
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::problem::Problem;
use super::state::App;

/// The largest body that is taken.
pub const MOST_BYTES: usize = 8 << 20;
/// A body that is too large is read on and thrown away up to here, so that its sender, who is still writing, gets to
/// read the refusal instead of a broken connection.
const MOST_DRAINED: usize = 64 << 20;
/// A body of the largest size takes milliseconds on this machine.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Larger ones, and those that do not say how long they are, need leave.
const SMALL: u64 = 256 << 10;
/// Requests with a large body at once.
pub const MOST_LARGE: usize = 8;
/// How long a large body waits for leave.
const LEAVE_WITHIN: Duration = Duration::from_secs(30);
/// Names are told to the client; none of ours is as long.
const MOST_NAME: usize = 64;

/// What is taken of a JSON object, field by field.
pub trait Fields {
    /// Takes the value of the field `name` or skips it. Of two fields with one name the last counts.
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, values: &mut A) -> Result<(), A::Error>;
}

/// What was taken of a request's body, and the leave to keep it: until the request is done, if its body was large.
pub struct Payload<T>(pub T, pub Option<OwnedSemaphorePermit>);

impl<T: Fields + Default> FromRequest<Arc<App>> for Payload<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (bytes, leave) = read(request, MOST_BYTES, PATIENCE, &app.large, LEAVE_WITHIN).await?;
        Ok(Self(parse(&bytes)?, leave))
    }
}

/// The fields of a JSON object.
pub fn parse<T: Fields + Default>(bytes: &[u8]) -> Result<T, Problem> {
    let mut fields = T::default();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = Shallow(&mut fields).deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    match value {
        Ok(Value::Object(_)) => Ok(fields),
        Ok(_) => Err(Problem::bad("Invalid JSON payload: expected an object")),
        Err(error) => Err(Problem::bad(format!("Invalid JSON payload: {error}"))),
    }
}

/// The value of a field; an array or an object comes empty.
pub fn value<'de, A: MapAccess<'de>>(values: &mut A) -> Result<Value, A::Error> {
    values.next_value_seed(Shallow(&mut Nothing))
}

/// Reads a value of which only the outermost level is kept: of an object what the fields take, of an array nothing.
pub struct Shallow<'a, T>(pub &'a mut T);

/// Takes no field.
struct Nothing;

impl Fields for Nothing {
    fn take<'de, A: MapAccess<'de>>(&mut self, _: &str, values: &mut A) -> Result<(), A::Error> {
        values.next_value::<IgnoredAny>().map(drop)
    }
}

impl<'de, T: Fields> DeserializeSeed<'de> for Shallow<'_, T> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, T: Fields> Visitor<'de> for Shallow<'_, T> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(Vec::new()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        while let Some(name) = values.next_key::<String>()? {
            self.0.take(&name[..name.floor_char_boundary(MOST_NAME)], &mut values)?;
        }
        Ok(Value::Object(Map::new()))
    }
}

/// The leave that a body of at most `length` bytes needs; without a length it may be of any.
async fn leave(
    length: Option<u64>,
    large: &Arc<Semaphore>,
    patience: Duration,
) -> Result<Option<OwnedSemaphorePermit>, Problem> {
    if length.is_some_and(|length| length <= SMALL) {
        return Ok(None);
    }
    match timeout(patience, large.clone().acquire_owned()).await {
        Ok(Ok(leave)) => Ok(Some(leave)),
        _ => Err(Problem::too_many_large()),
    }
}

/// All of a body that comes within `patience`, and the leave it needed and got `within` that time.
async fn read(
    request: Request,
    most: usize,
    patience: Duration,
    large: &Arc<Semaphore>,
    within: Duration,
) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), Problem> {
    let waits_for_leave = request.headers().contains_key(EXPECT);
    let body = request.into_body();
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > MOST_DRAINED || (announced > most && waits_for_leave) {
        return Err(Problem::too_large(most));
    }
    let leave = leave(body.size_hint().upper(), large, within).await?;
    let bytes = timeout(patience, collect(body, announced, most)).await.map_err(|_| Problem::too_slow())??;
    Ok((bytes, leave))
}

/// All of `body`; when it is more than `most`, only its end is awaited.
async fn collect(mut body: Body, announced: usize, most: usize) -> Result<Vec<u8>, Problem> {
    let (mut bytes, mut length) = (Vec::with_capacity(announced.min(most)), 0);
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

    fn refused(body: Body, most: usize, large: &Arc<Semaphore>) -> Option<u16> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let read = read(Request::new(body), most, Duration::ZERO, large, Duration::ZERO);
        let problem = runtime.block_on(read).err()?;
        Some(problem.into_response().status().as_u16())
    }

    fn one() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(1))
    }

    #[test]
    fn a_body_that_does_not_come_is_not_waited_for() {
        assert_eq!(refused(Body::new(Silent), 4, &one()), Some(408));
    }

    #[test]
    fn the_bound_is_the_last_size_that_is_taken() {
        assert_eq!(refused(Body::from("1234"), 4, &one()), None);
        assert_eq!(refused(Body::from("12345"), 4, &one()), Some(413));
    }

    #[test]
    fn a_large_body_needs_leave_and_a_small_one_does_not() {
        let taken = one();
        let _leave = taken.try_acquire().unwrap();
        for (length, expected) in [(1, None), (SMALL as usize, None), (SMALL as usize + 1, Some(503))] {
            assert_eq!(refused(Body::from("x".repeat(length)), MOST_BYTES, &taken), expected, "{length}");
        }
        assert_eq!(refused(Body::new(Silent), 4, &taken), Some(503), "it may be of any length");
        assert_eq!(refused(Body::from("x".repeat(SMALL as usize + 1)), MOST_BYTES, &one()), None);
    }

    /// Takes one field and leaves the rest.
    #[derive(Debug, Default, PartialEq)]
    struct One(Value);

    impl Fields for One {
        fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, values: &mut A) -> Result<(), A::Error> {
            if name == "one" {
                self.0 = value(values)?;
            } else {
                values.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    #[test]
    fn only_what_is_asked_for_is_built() {
        let one = |text: &str| parse::<One>(text.as_bytes()).unwrap().0;
        // Whoever built a tree of it would end at its depth.
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(one(&format!(r#"{{"junk": {deep}, "one": 1}}"#)), Value::from(1));
        assert_eq!(one(&format!(r#"{{"one": {deep}}}"#)), Value::Array(Vec::new()));
        assert_eq!(one(r#"{"one": {"two": [1]}}"#), Value::Object(Map::new()));
        assert_eq!(one(r#"{"one": 1, "one": "\u0001two"}"#), Value::from("\u{1}two"));
        for (text, expected) in [("{}", Value::Null), (r#"{"one": -1.5}"#, (-1.5).into())] {
            assert_eq!(one(text), expected);
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for (text, word) in
            [("[1]", "expected an object"), ("7", "expected an object"), ("", "EOF"), ("{} x", "trailing")]
        {
            let problem = format!("{:?}", parse::<One>(text.as_bytes()).unwrap_err());
            assert!(problem.contains("Invalid JSON payload: ") && problem.contains(word), "{problem}");
        }
    }
}
