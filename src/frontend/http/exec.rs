//! `POST /v1/exec`: one cell in a session of its own, without a model, `{"code": "…", "limits": {…},
//! "deterministic": true | seed}` → the outcome.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::de::{IgnoredAny, MapAccess};
use serde_json::Value;

use super::answers;
use super::body::{self, Fields, Payload, Shallow};
use super::problem::Problem;
use super::state::{App, Sandbox};
use crate::frontend::cells::Cells;
use crate::frontend::{json, limits};
use crate::sandbox::{Python, SessionOptions};
use crate::{Cancel, Error, Limits, Result};

const FIELDS: [&str; 3] = ["code", "limits", "deterministic"];

/// The fields of a call, as they came.
#[derive(Default)]
pub struct Call {
    code: Value,
    limits: Bounds,
    deterministic: Value,
    /// The first field that is none of ours.
    unknown: Option<String>,
}

/// The field `limits`.
#[derive(Default)]
struct Bounds {
    limits: Limits,
    /// What is wrong with the first one that cannot be set.
    refused: Option<String>,
}

impl Fields for Call {
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, values: &mut A) -> Result<(), A::Error> {
        match name {
            "code" => self.code = body::value(values)?,
            "limits" => {
                self.limits = Bounds::default();
                if !matches!(values.next_value_seed(Shallow(&mut self.limits))?, Value::Null | Value::Object(_)) {
                    self.limits.refused = Some("Invalid field: 'limits' must be an object".into());
                }
            }
            "deterministic" => self.deterministic = body::value(values)?,
            _ => {
                self.unknown.get_or_insert_with(|| name.to_owned());
                values.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl Fields for Bounds {
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, values: &mut A) -> Result<(), A::Error> {
        let set = limits::set(&mut self.limits, name, &body::value(values)?);
        self.refused = self.refused.take().or(set.err());
        Ok(())
    }
}

pub async fn exec(State(app): State<Arc<App>>, call: Payload<Call>) -> Result<Response, Problem> {
    let Payload(call, _leave) = call;
    let mut cells = cells(call)?;
    let Sandbox { python, packages } = app.sandbox()?;
    cells.options.packages = packages;
    let (outcome, place) = app.cells.run(move |cancel| outcome(cells, &python, cancel)).await?;
    app.answers.send(outcome?, place).await
}

/// The cell's outcome as it is answered. The session is ended, and the outcome dropped, on the thread that may block.
fn outcome(cells: Cells, python: &Python, cancel: &Cancel) -> Result<Vec<u8>, Problem> {
    let ran = cells.run(python, cancel, &mut |_, _| {}).map_err(|error| failed(&error))?;
    if let Some(trouble) = ran.trouble {
        log::warn!("{trouble}");
    }
    match ran.outcomes.first() {
        Some(outcome) => answers::write(&json::outcome(outcome)),
        None => Err(Problem::failed("Execution failed: the cell left no outcome")),
    }
}

fn cells(call: Call) -> Result<Cells, Problem> {
    if let Some(unknown) = call.unknown {
        return Err(Problem::bad(format!("Unknown field: '{unknown}' (known: {})", FIELDS.join(", "))));
    }
    let code = match call.code {
        Value::String(code) => code,
        Value::Null => return Err(Problem::bad("Missing field: 'code'")),
        _ => return Err(Problem::bad("Invalid field: 'code' must be a string")),
    };
    if let Some(refused) = call.limits.refused {
        return Err(Problem::bad(refused));
    }
    let options =
        SessionOptions { deterministic: seed(&call.deterministic)?, ..SessionOptions::new(call.limits.limits) };
    Ok(Cells { code: vec![code], options, ..Cells::default() })
}

/// `true` is the seed 0; `false`, like none, is the machine's own time and entropy.
fn seed(value: &Value) -> Result<Option<u64>, Problem> {
    match value {
        Value::Null | Value::Bool(false) => Ok(None),
        Value::Bool(true) => Ok(Some(0)),
        value => value.as_u64().map(Some).ok_or_else(|| {
            Problem::bad("Invalid field: 'deterministic' must be true, false or a seed (a whole number, not negative)")
        }),
    }
}

fn failed(error: &Error) -> Problem {
    if error.is_usage() {
        Problem::bad(error.to_string())
    } else if error.is_busy() {
        Problem::busy(error)
    } else {
        Problem::failed(format!("Execution failed: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(value: Value) -> Result<Cells, Problem> {
        cells(body::parse(value.to_string().as_bytes())?)
    }

    #[test]
    fn code_and_limits_reach_the_cell() {
        let cells = parse(json!({"code": "1+1", "limits": {"wall": 2, "fuel": 1000}})).unwrap();
        assert_eq!(cells.code, ["1+1"]);
        assert_eq!((cells.options.limits.wall.as_secs(), cells.options.limits.fuel), (2, Some(1000)));
        assert_eq!(parse(json!({"code": ""})).unwrap().options.limits, Limits::default());
    }

    #[test]
    fn a_session_is_deterministic_when_asked() {
        let seed =
            |value: Value| parse(json!({"code": "", "deterministic": value})).map(|cells| cells.options.deterministic);
        for (value, expected) in [
            (json!(null), None),
            (json!(false), None),
            (json!(true), Some(0)),
            (json!(0), Some(0)),
            (json!(7), Some(7)),
        ] {
            assert_eq!(seed(value.clone()).unwrap(), expected, "{value}");
        }
        for wrong in [json!(-1), json!(1.5), json!("7"), json!([])] {
            assert!(format!("{:?}", seed(wrong).unwrap_err()).contains("Invalid field: 'deterministic' must be true"));
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let text = |value| format!("{:?}", parse(value).unwrap_err());
        assert!(text(json!({})).contains("Missing field: 'code'"));
        assert!(text(json!({"code": 1})).contains("Invalid field: 'code'"));
        assert!(
            text(json!({"code": "1", "limit": {}}))
                .contains("Unknown field: 'limit' (known: code, limits, deterministic)")
        );
        assert!(text(json!({"code": "1", "limits": []})).contains("'limits' must be an object"));
        let long = text(json!({ "x".repeat(100): 1 }));
        assert!(long.contains(&format!("'{}'", "x".repeat(64))), "{long}");
        let unknown = text(json!({"code": "1", "limits": {"timeout": 2}}));
        assert!(
            unknown.contains("Unknown limit: 'timeout' (known: wall, fuel, memory, output, scratch, "),
            "{unknown}"
        );
    }
}
