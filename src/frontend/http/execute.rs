//! `POST /execute`: the first design's call, `{"instruction": "…", "max_retries": 3}` → the answer.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::de::{IgnoredAny, MapAccess};
use serde_json::Value;

use super::answers;
use super::body::{self, Fields, Payload};
use super::problem::Problem;
use super::state::App;
use crate::frontend::json;
use crate::model::{Guide, Sampling};
use crate::sandbox::SessionOptions;
use crate::{Answer, Cancel, CodeInterpreter, Error, Request, Result, StopReason};

/// A client may not keep the model for itself for ever.
const MOST_RETRIES: usize = Request::MOST_RETRIES;

/// The fields of a call, as they came.
pub struct Call {
    instruction: Value,
    max_retries: Value,
    guide: Value,
    /// How to draw tokens, by the names of [`Sampling`]'s fields.
    sampling: [(&'static str, Value); 7],
}

impl Default for Call {
    fn default() -> Self {
        let names = ["temperature", "seed", "top_k", "top_p", "min_p", "repeat_penalty", "repeat_last_n"];
        Self {
            instruction: Value::Null,
            max_retries: Value::Null,
            guide: Value::Null,
            sampling: names.map(|name| (name, Value::Null)),
        }
    }
}

impl Fields for Call {
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, values: &mut A) -> Result<(), A::Error> {
        match name {
            "instruction" => self.instruction = body::value(values)?,
            "max_retries" => self.max_retries = body::value(values)?,
            "guide" => self.guide = body::value(values)?,
            name if let Some((_, value)) = self.sampling.iter_mut().find(|(known, _)| *known == name) => {
                *value = body::value(values)?;
            }
            _ => drop(values.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

pub async fn execute(State(app): State<Arc<App>>, call: Payload<Call>) -> Result<Response, Problem> {
    let Payload(call, _leave) = call;
    let request = request(call)?;
    let interpreter = app.interpreter()?;
    let (answer, place) = app.runs.run(move |cancel| answer(&interpreter, &request, cancel)).await?;
    app.answers.send(answer?, place).await
}

fn request(call: Call) -> Result<Request, Problem> {
    let mut request = Request::new(match call.instruction {
        Value::String(text) if !text.trim().is_empty() => text,
        Value::Null | Value::String(_) => return Err(Problem::bad("Missing field: 'instruction'")),
        _ => return Err(Problem::bad("Invalid field: 'instruction' must be a string")),
    });
    match call.max_retries {
        Value::Null => {}
        value => match value.as_u64().and_then(|count| usize::try_from(count).ok()) {
            Some(count) if (1..=MOST_RETRIES).contains(&count) => request.max_retries = count,
            _ => {
                let text = format!("Invalid field: 'max_retries' must be a whole number from 1 to {MOST_RETRIES}");
                return Err(Problem::bad(text));
            }
        },
    }
    if !call.guide.is_null() {
        request.guide = (call.guide.as_str().and_then(Guide::named))
            .ok_or_else(|| Problem::bad("Invalid field: 'guide' must be \"none\", \"fence\" or \"python\""))?;
    }
    for (name, value) in call.sampling.iter().filter(|(_, value)| !value.is_null()) {
        draw(&mut request.sampling, name, value)
            .ok_or_else(|| Problem::bad(format!("Invalid field: '{name}' must be a number, whole where it counts")))?;
    }
    request.sampling.check().map_err(|error| Problem::bad(format!("Invalid field: {error}")))?;
    Ok(request)
}

/// Sets the field of that name; `None` if `value` is none of its kind.
fn draw(sampling: &mut Sampling, name: &str, value: &Value) -> Option<()> {
    let number = || value.as_f64().map(|number| number as f32);
    let count = || value.as_u64().and_then(|count| usize::try_from(count).ok());
    match name {
        "temperature" => sampling.temperature = number()?,
        "top_p" => sampling.top_p = number()?,
        "min_p" => sampling.min_p = number()?,
        "repeat_penalty" => sampling.repeat_penalty = number()?,
        "top_k" => sampling.top_k = count()?,
        "repeat_last_n" => sampling.repeat_last_n = count()?,
        "seed" => sampling.seed = value.as_u64()?,
        _ => return None,
    }
    Some(())
}

fn answer(interpreter: &CodeInterpreter, request: &Request, cancel: &Cancel) -> Result<Vec<u8>, Problem> {
    let ran = interpreter
        .session(SessionOptions::default())
        .and_then(|mut session| interpreter.run_to_end(&mut session, request, &mut |_| {}, cancel));
    answered(&ran.map_err(|error| failed(&error))?)
}

/// A model that failed at once is a failure; what came before it failed is an answer.
fn answered(answer: &Answer) -> Result<Vec<u8>, Problem> {
    if answer.stop_reason == StopReason::ModelError && answer.steps.is_empty() {
        let why = answer.error.as_deref().unwrap_or("the model gave no reply");
        return Err(Problem::failed(format!("Inference execution failed: {why}")));
    }
    answers::write(&json::answer(answer))
}

fn failed(error: &Error) -> Problem {
    if error.is_usage() {
        Problem::bad(error.to_string())
    } else if error.is_busy() {
        Problem::busy(error)
    } else {
        Problem::failed(format!("Inference execution failed: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::frontend::samples;
    use crate::sandbox::Status;

    fn parse(value: Value) -> Result<Request, Problem> {
        request(body::parse(value.to_string().as_bytes())?)
    }

    #[test]
    fn the_seeds_fields_and_its_defaults() {
        let request = parse(json!({"instruction": "sum 1 to 10", "stream": false})).unwrap();
        assert_eq!((request.instruction.as_str(), request.max_retries), ("sum 1 to 10", 3));
        assert_eq!(parse(json!({"instruction": "x", "max_retries": 1})).unwrap().max_retries, 1);
    }

    #[test]
    fn tokens_are_drawn_as_asked() {
        let asked = json!({"instruction": "x", "temperature": 0.5, "seed": 7, "top_k": 0, "top_p": 0.9, "min_p": 0.1,
            "repeat_penalty": 1.5, "repeat_last_n": 9, "guide": "fence"});
        let request = parse(asked).unwrap();
        assert_eq!(request.guide, Guide::Fence);
        let sampling = request.sampling;
        assert_eq!((sampling.temperature, sampling.seed, sampling.top_k), (0.5, 7, 0));
        assert_eq!((sampling.top_p, sampling.min_p), (0.9, 0.1));
        assert_eq!((sampling.repeat_penalty, sampling.repeat_last_n), (1.5, 9));
        let usual = parse(json!({"instruction": "x", "temperature": null})).unwrap().sampling;
        assert_eq!(usual, Sampling::default());
        let wrong = [
            ("top_p", json!(1.5)),
            ("temperature", json!("hot")),
            ("top_k", json!(-1)),
            ("seed", json!(1.5)),
            ("repeat_penalty", json!(0)),
            ("temperature", json!(1e300)),
            ("guide", json!("bash")),
            ("guide", json!(true)),
        ];
        for (name, value) in wrong {
            let problem = parse(json!({"instruction": "x", name: value})).unwrap_err();
            assert!(format!("{problem:?}").contains(name), "{problem:?}");
        }
    }

    #[test]
    fn a_model_that_failed_loses_no_attempt() {
        let failed = Answer {
            stop_reason: StopReason::ModelError,
            error: Some("exhausted".into()),
            ..samples::answer(false, samples::outcome(Status::Error))
        };
        assert!(answered(&failed).is_ok());
        let at_once = Answer { steps: Vec::new(), ..failed };
        assert!(format!("{:?}", answered(&at_once).unwrap_err()).contains("Inference execution failed: exhausted"));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let text = |value| format!("{:?}", parse(value).unwrap_err());
        for missing in [json!({}), json!({"instruction": null}), json!({"instruction": "  "})] {
            assert!(text(missing).contains("Missing field: 'instruction'"));
        }
        assert!(text(json!({"instruction": 5})).contains("Invalid field: 'instruction'"));
        for count in [json!(0), json!(-1), json!(1.5), json!("3"), json!(101)] {
            assert!(text(json!({"instruction": "x", "max_retries": count})).contains("Invalid field: 'max_retries'"));
        }
    }
}
