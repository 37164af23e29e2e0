//! The loop: ask the model, run its program, give the error back. The only place that knows both the model and the sandbox.
//!
//! What ends it, and what it claims:
//! - `success` is the host's word: the last program ended with status `ok`. Nothing the model or the program says counts.
//! - A program that ends well but shows nothing (no output, value, display or changed file) is sent back once, with
//!   the wish to print; whoever asked would see an empty answer. Silent again, it is a success, since it may be one.
//! - Every attempt begins with the session as it was before the first: what a failed one did, files too, is undone.
//! - The same program for the third time ends it early (`stuck`); attempts that are spent are `retries` all the same.
//! - A reply that repeated itself without end is cut and its program runs like any other; if it fails, the question is asked
//!   anew without it, since a model that sees a repetition goes on with it.
//! - An attempt is a reply: `attempts` is the number of steps, and a model that fails to reply adds none.

mod extract;
mod feedback;
mod plausible;
mod prompt;
mod quote;
mod record;
mod stuck;
mod style;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transcript;

use feedback::Failure;
use record::{Record, Tokens};
use stuck::Turn;
use style::Style;

use crate::model::{Finish, Model, Prompt, Refusal, Reply, Sampling};
use crate::sandbox::{Outcome, Session, Status};
use crate::{Answer, Cancel, Error, Request, Result, StopReason};

/// It bounds what a request can ask for.
const MOST_ATTEMPTS: usize = Request::MOST_RETRIES;

/// How freely the model is to write after it failed: greedy decoding repeats itself.
const RETRY_TEMPERATURE: f32 = 0.7;

/// What happens during a run, in order, for whoever watches.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Attempt `number` of at most `of` begins.
    Attempt {
        number: usize,
        of: usize,
    },
    /// The model's reply, piece by piece.
    Text(&'a str),
    /// What a person may want to know: that the reply so far was given up and the same attempt asks again, or that the
    /// exit handlers did not end well.
    Note(&'a str),
    /// The program taken from the reply, about to run.
    Code(&'a str),
    Outcome(&'a Outcome),
}

/// Runs one instruction in `session`.
///
/// # Errors
/// A request that cannot be served, and the sandbox's own failures. A model that fails is an answer with
/// [`StopReason::ModelError`], so that what came before it is kept.
pub(crate) fn run(
    model: &mut dyn Model,
    session: &mut Session,
    request: &Request,
    observer: &mut dyn FnMut(Event<'_>),
    cancel: &Cancel,
) -> Result<Answer> {
    check(request)?;
    if let Some(input) = &request.user_input {
        session.bind_text("user_input", input)?;
    }
    let mut used = false;
    let mut cell = |code: &str| {
        if std::mem::replace(&mut used, true) {
            session.undo_or_restart();
        }
        session.exec(code, cancel)
    };
    Run::new(request, Style::of(model.parameters())).drive(model, &mut cell, observer, cancel)
}

fn check(request: &Request) -> Result<()> {
    if request.instruction.trim().is_empty() {
        return Err(Error::usage("the instruction is empty").advise("say in a sentence what the program is to do"));
    }
    if !(1..=MOST_ATTEMPTS).contains(&request.max_retries) {
        let said = format!("max_retries is {}, but it counts all attempts", request.max_retries);
        return Err(Error::usage(said).advise(format!("give a number from 1 to {MOST_ATTEMPTS}")));
    }
    request.sampling.check()
}

/// Runs a program in a session that no earlier attempt of this run has touched.
type Cell<'a> = dyn FnMut(&str) -> Result<Outcome> + 'a;

/// Why there is no reply to go on with.
struct Stop {
    reason: StopReason,
    /// The part of a reply that a cancel cut off.
    partial: Option<Box<Reply>>,
    error: Option<String>,
}

impl Stop {
    fn new(reason: StopReason, error: Option<String>) -> Self {
        Self { reason, partial: None, error }
    }
}

/// One run on its way.
struct Run<'a> {
    request: &'a Request,
    style: &'a Style,
    transcript: transcript::Transcript<'a>,
    circles: stuck::Circles,
    record: Record,
    /// The model was already asked to print something.
    asked_to_print: bool,
}

impl<'a> Run<'a> {
    fn new(request: &'a Request, style: &'a Style) -> Self {
        Self {
            request,
            style,
            transcript: transcript::Transcript::new(request, style),
            circles: stuck::Circles::default(),
            record: Record::new(),
            asked_to_print: false,
        }
    }

    fn drive(
        mut self,
        model: &mut dyn Model,
        cell: &mut Cell<'_>,
        observer: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> Result<Answer> {
        let of = self.request.max_retries;
        let mut error = None;
        let mut reason = StopReason::Retries;
        for number in 1..=of {
            if cancel.is_cancelled() {
                reason = StopReason::Cancelled;
                break;
            }
            observer(Event::Attempt { number, of });
            self.record.attempt_begins();
            let (reply, tokens) = match self.ask(number, model, observer, cancel) {
                Ok(reply) => reply,
                Err(stop) => {
                    if let Some(reply) = stop.partial {
                        let mut tokens = Tokens::default();
                        tokens.add(&reply);
                        self.record.attempt(None, None, reply.text, tokens);
                    }
                    (reason, error) = (stop.reason, stop.error);
                    break;
                }
            };
            if let Some(end) = self.attempt(reply, tokens, number == of, cell, observer)? {
                reason = end;
                break;
            }
        }
        Ok(self.record.answer(reason, model.name().to_owned(), error))
    }

    /// Asks for a reply, with less of the conversation as long as it does not fit.
    fn ask(
        &mut self,
        number: usize,
        model: &mut dyn Model,
        observer: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> Result<(Reply, Tokens), Stop> {
        let sampling = sampling(&self.request.sampling, number);
        let mut tokens = Tokens::default();
        loop {
            let messages = self.transcript.messages();
            let prompt = Prompt::new(&messages, &sampling)
                .with_shared(self.transcript.shared())
                .with_prefill(self.style.prefill)
                .with_stop(&prompt::STOP)
                .with_stop_after(prompt::STOP_AFTER)
                .with_max_tokens(self.request.max_tokens)
                .with_guide(self.request.guide);
            match model.generate(&prompt, &mut |text| observer(Event::Text(text)), cancel) {
                Ok(reply) if reply.finish == Finish::Cancelled => {
                    return Err(Stop { partial: Some(Box::new(reply)), ..Stop::new(StopReason::Cancelled, None) });
                }
                Ok(reply) => {
                    tokens.add(&reply);
                    if reply.finish == Finish::Repetition {
                        observer(Event::Note("the model repeated itself without end, so its reply was cut"));
                    }
                    if reply.finish == Finish::Length && reply.completion_tokens >= self.request.max_tokens {
                        observer(Event::Note(
                            "the reply was cut at the limit of its tokens (--max-tokens allows more)",
                        ));
                    }
                    if !self.was_cut(&reply) || !self.transcript.shorten() {
                        return Ok((reply, tokens));
                    }
                    observer(Event::Note(
                        "the context was full before the reply ended; asking again with a shorter conversation",
                    ));
                }
                Err(Refusal::Context { .. }) if self.transcript.shorten() => {}
                Err(refusal) => return Err(refused(refusal)),
            }
        }
    }

    /// Whether the context, not the limit of the request, ended the reply.
    fn was_cut(&self, reply: &Reply) -> bool {
        reply.finish == Finish::Length && reply.prompt_tokens > 0 && reply.completion_tokens < self.request.max_tokens
    }

    /// Runs the program of a reply and prepares the next attempt; says why when there is to be none.
    fn attempt(
        &mut self,
        reply: Reply,
        tokens: Tokens,
        last: bool,
        cell: &mut Cell<'_>,
        observer: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<StopReason>> {
        let endless = reply.finish == Finish::Repetition;
        let Some(code) = extract::program(&reply.text) else {
            if endless {
                self.transcript.start_over(feedback::ENDLESS.to_owned());
            } else {
                self.transcript.failed(None, &reply.text, feedback::message(Failure::NoCode, false));
            }
            self.record.attempt(None, None, reply.text, tokens);
            return Ok(last.then_some(StopReason::NoCode));
        };
        observer(Event::Code(&code));
        let outcome = match cell(&code) {
            Err(error) if error.is_cancelled() => {
                self.record.attempt(Some(code), None, reply.text, tokens);
                return Ok(Some(StopReason::Cancelled));
            }
            outcome => outcome?,
        };
        observer(Event::Outcome(&outcome));
        let end = self.judge(&code, &outcome, endless, last);
        self.record.attempt(Some(code), Some(outcome), reply.text, tokens);
        Ok(end)
    }

    fn judge(&mut self, code: &str, outcome: &Outcome, endless: bool, last: bool) -> Option<StopReason> {
        let has_input = self.request.user_input.is_some();
        let mut same_error = false;
        let failure = match outcome.status {
            Status::Cancelled => return Some(StopReason::Cancelled),
            Status::Ok if last || self.asked_to_print || shows_something(outcome) => return Some(StopReason::Answered),
            Status::Ok => {
                self.asked_to_print = true;
                Failure::Silent
            }
            _ if last => return Some(StopReason::Retries),
            _ => match self.circles.notice(code, feedback::signature(code, outcome)) {
                Turn::Stuck => return Some(StopReason::Stuck),
                _ if endless => {
                    self.transcript.start_over(feedback::ENDLESS.to_owned());
                    return None;
                }
                Turn::SameProgram => {
                    self.transcript.start_over(feedback::afresh(outcome, has_input));
                    return None;
                }
                turn => {
                    same_error = turn == Turn::SameError;
                    Failure::Ran { code, outcome, has_input }
                }
            },
        };
        self.transcript.failed(Some(code), "", feedback::message(failure, same_error));
        None
    }
}

fn shows_something(outcome: &Outcome) -> bool {
    let printed = [&outcome.stdout, &outcome.stderr].iter().any(|text| !text.trim().is_empty());
    printed || outcome.result.is_some() || !outcome.displays.is_empty() || !outcome.files.is_empty()
}

/// The first attempt as asked for; later ones draw differently, each in its own way and the same way every time.
fn sampling(asked: &Sampling, number: usize) -> Sampling {
    let mut sampling = asked.clone();
    if number > 1 {
        sampling.temperature = sampling.temperature.max(RETRY_TEMPERATURE);
        sampling.seed = sampling.seed.wrapping_add(number as u64 - 1);
    }
    sampling
}

fn refused(refusal: Refusal) -> Stop {
    match refusal {
        Refusal::Context { .. } => {
            let error = format!(
                "{refusal}: shorten the instruction or the input, or raise --n-ctx (a server has a setting of its own)"
            );
            Stop::new(StopReason::Context, Some(error))
        }
        Refusal::Failed(error) if error.is_cancelled() => Stop::new(StopReason::Cancelled, None),
        Refusal::Failed(error) => {
            let advice = error.advice().map(|advice| format!(" ({advice})")).unwrap_or_default();
            Stop::new(StopReason::ModelError, Some(format!("{error}{advice}")))
        }
    }
}
