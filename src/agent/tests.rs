//! The loop with planned replies and planned outcomes; the transcripts under `tests/` run the real sandbox.

use std::collections::VecDeque;

use super::testing::{Planned, outcome, printed, raised};
use super::*;
use crate::sandbox::LimitHit;

/// Runs `request` over `outcomes`, one for each program; returns the answer and the programs that ran.
fn run_over(model: &mut Planned, request: &Request, outcomes: Vec<Outcome>) -> (Answer, Vec<String>) {
    let mut outcomes = VecDeque::from(outcomes);
    let mut ran = Vec::new();
    let mut cell = |code: &str| {
        ran.push(code.to_owned());
        Ok(outcomes.pop_front().expect("one outcome for each program"))
    };
    let answer = run(request).drive(model, &mut cell, &mut |_| {}, &Cancel::new()).expect("an answer");
    (answer, ran)
}

fn run(request: &Request) -> Run<'_> {
    Run::new(request, Style::of(None))
}

fn attempts(max: usize) -> Request {
    let mut request = Request::new("Print one.");
    request.max_retries = max;
    request
}

#[test]
fn the_first_program_that_works_is_the_answer() {
    let mut model = Planned::programs(&["print(1)"]);
    let (answer, ran) = run_over(&mut model, &attempts(3), vec![printed("1\n")]);
    assert!(answer.success);
    assert_eq!((answer.stop_reason, answer.attempts), (StopReason::Answered, 1));
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str(), answer.code.as_str()), ("1\n", "", "print(1)"));
    assert_eq!(answer.response, "```python\nprint(1)\n```");
    assert_eq!(answer.model, "planned");
    assert_eq!(ran, ["print(1)"]);
}

#[test]
fn an_error_goes_back_and_the_next_program_answers() {
    let mut model = Planned::programs(&["print(x)", "x = 1\nprint(x)"]);
    let outcomes = vec![raised("NameError", "name 'x' is not defined"), printed("1\n")];
    let (answer, _) = run_over(&mut model, &attempts(3), outcomes);
    assert!(answer.success);
    assert_eq!((answer.attempts, answer.steps.len()), (2, 2));
    assert!(model.told(1).contains("NameError: name 'x' is not defined\nin line 1: print(x)"), "{}", model.told(1));
    assert_eq!(model.asked[0].sampling.temperature, 0.0);
    assert!(model.asked[1].sampling.temperature > 0.0);
    assert_eq!(answer.usage.completion_tokens, answer.steps.iter().map(|step| step.completion_tokens).sum::<usize>());
    assert!(answer.usage.prompt_tokens > 0);
}

#[test]
fn spent_attempts_keep_the_last_program_and_its_error() {
    let mut model = Planned::programs(&["a()", "b()"]);
    let mut last = raised("NameError", "name 'b' is not defined");
    last.stdout = "half\n".to_owned();
    last.stderr = "warned".to_owned();
    let (answer, _) = run_over(&mut model, &attempts(2), vec![raised("NameError", "name 'a' is not defined"), last]);
    assert!(!answer.success);
    assert_eq!((answer.stop_reason, answer.attempts), (StopReason::Retries, 2));
    assert_eq!((answer.code.as_str(), answer.stdout.as_str()), ("b()", "half\n"));
    assert!(answer.stderr.starts_with("warned\nTraceback"), "{}", answer.stderr);
    assert!(answer.stderr.ends_with("NameError: name 'b' is not defined\n"), "{}", answer.stderr);
}

#[test]
fn a_reply_without_code_is_an_attempt() {
    let mut model = Planned::new(&["I cannot.", "```python\nprint(1)\n```"]);
    let (answer, ran) = run_over(&mut model, &attempts(3), vec![printed("1\n")]);
    assert!(answer.success);
    assert_eq!((answer.attempts, ran.len()), (2, 1));
    assert!(answer.steps[0].code.is_empty() && answer.steps[0].outcome.is_none());
    assert!(model.told(1).contains("fence"));
}

#[test]
fn no_code_at_the_end_keeps_the_program_before_it() {
    let mut model = Planned::new(&["```python\na()\n```", "I give up."]);
    let (answer, _) = run_over(&mut model, &attempts(2), vec![raised("NameError", "name 'a' is not defined")]);
    assert_eq!((answer.stop_reason, answer.attempts), (StopReason::NoCode, 2));
    assert_eq!((answer.code.as_str(), answer.response.as_str()), ("a()", "I give up."));
    assert!(answer.stderr.contains("NameError") && answer.stderr.contains("no program"), "{}", answer.stderr);
}

#[test]
fn a_silent_program_is_asked_once_to_print() {
    let silent = || outcome(Status::Ok);
    let mut model = Planned::programs(&["x = 1", "x = 1\nprint(x)"]);
    let (answer, _) = run_over(&mut model, &attempts(3), vec![silent(), printed("1\n")]);
    assert_eq!((answer.success, answer.attempts), (true, 2));
    assert!(model.told(1).contains("(no output)"));

    let mut model = Planned::programs(&["x = 1", "x = 1"]);
    let (answer, _) = run_over(&mut model, &attempts(3), vec![silent(), silent()]);
    assert_eq!((answer.success, answer.attempts, answer.stop_reason), (true, 2, StopReason::Answered));

    let mut model = Planned::programs(&["x = 1"]);
    let (answer, _) = run_over(&mut model, &attempts(1), vec![silent()]);
    assert_eq!((answer.success, answer.attempts), (true, 1));
}

#[test]
fn a_value_or_a_file_is_something_to_show() {
    let mut value = outcome(Status::Ok);
    value.result = Some([("text/plain".to_owned(), "2".to_owned())].into());
    let mut file = outcome(Status::Ok);
    file.files = vec![crate::sandbox::FileChange {
        path: "out.csv".to_owned(),
        change: crate::sandbox::Change::Created,
        bytes: 1,
        sha256: None,
    }];
    for shown in [value, file] {
        let (answer, _) = run_over(&mut Planned::programs(&["x"]), &attempts(3), vec![shown]);
        assert_eq!((answer.success, answer.attempts, answer.stdout.as_str()), (true, 1, ""));
    }
}

#[test]
fn the_same_program_a_third_time_is_stuck() {
    let mut model = Planned::programs(&["a()", "a()", "a()", "print(1)"]);
    let outcomes = vec![raised("NameError", "name 'a' is not defined"); 3];
    let (answer, _) = run_over(&mut model, &attempts(5), outcomes);
    assert_eq!((answer.success, answer.attempts, answer.stop_reason), (false, 3, StopReason::Stuck));
    assert!(model.told(2).contains("Write a different program.") && !model.told(2).contains("a()"));
    assert_ne!(model.asked[1].sampling.seed, model.asked[2].sampling.seed);

    let mut model = Planned::programs(&["a()", "a()", "a()"]);
    let outcomes = vec![raised("NameError", "name 'a' is not defined"); 3];
    assert_eq!(run_over(&mut model, &attempts(3), outcomes).0.stop_reason, StopReason::Retries);
}

#[test]
fn a_model_that_fails_keeps_what_came_before() {
    let mut model = Planned::programs(&["a()"]);
    let (answer, _) = run_over(&mut model, &attempts(3), vec![raised("NameError", "name 'a' is not defined")]);
    assert_eq!((answer.stop_reason, answer.attempts, answer.success), (StopReason::ModelError, 1, false));
    assert_eq!((answer.code.as_str(), answer.error.as_deref()), ("a()", Some("nothing left to say")));
}

#[test]
fn limits_are_in_the_error_text() {
    let mut stopped = outcome(Status::Timeout);
    stopped.stdout = "before\n".to_owned();
    stopped.limit = Some(LimitHit { name: "wall", used: 10.0, allowed: 10.0, unit: "s" });
    let (answer, _) = run_over(&mut Planned::programs(&["while True: pass"]), &attempts(1), vec![stopped]);
    assert_eq!((answer.stdout.as_str(), answer.success), ("before\n", false));
    assert_eq!(answer.stderr, "stopped: time limit (used 10 s of 10 s)\n");
}

#[test]
fn a_full_context_drops_the_oldest_first() {
    let codes: Vec<String> = (1..=6).map(|n| format!("raise ValueError('{n}{}')", "x".repeat(200))).collect();
    let mut model = Planned::programs(&codes.iter().map(String::as_str).collect::<Vec<_>>());
    let whole: usize = transcript::Transcript::new(&attempts(6), Style::of(None))
        .messages()
        .iter()
        .map(|m| m.content.len().div_ceil(4))
        .sum();
    model.n_ctx = whole + 300;
    let outcomes = (1..=6).map(|n| raised("ValueError", &n.to_string())).collect();
    let (answer, _) = run_over(&mut model, &attempts(6), outcomes);
    assert_eq!((answer.stop_reason, answer.attempts), (StopReason::Retries, 6));
    let last = model.asked.last().expect("a question");
    let all: String = last.messages.iter().map(|message| message.content.as_str()).collect();
    assert!(all.contains("ValueError: 5") && !all.contains("ValueError: 1"), "{all}");
}

#[test]
fn a_prompt_that_never_fits_says_the_numbers() {
    let mut model = Planned::programs(&["print(1)"]);
    model.n_ctx = 20;
    let (answer, ran) = run_over(&mut model, &attempts(3), vec![]);
    assert_eq!((answer.stop_reason, answer.attempts), (StopReason::Context, 0));
    let error = answer.error.expect("an error");
    assert!(error.contains("context holds 20") && error.contains("--n-ctx"), "{error}");
    assert!(ran.is_empty());
}

#[test]
fn a_reply_cut_by_the_context_is_asked_again() {
    let mut model = Planned::programs(&["print(", "print(1)"]);
    model.replies[0].finish = Finish::Length;
    let mut notes = 0;
    let mut cell = |_: &str| Ok(printed("1\n"));
    let mut observer = |event: Event<'_>| notes += usize::from(matches!(event, Event::Note(_)));
    let request = attempts(1);
    let answer = run(&request).drive(&mut model, &mut cell, &mut observer, &Cancel::new()).expect("an answer");
    assert_eq!((answer.code.as_str(), answer.attempts, notes), ("print(1)", 1, 1));
    assert!(answer.usage.completion_tokens > answer.response.len().div_ceil(4));
}

#[test]
fn a_reply_that_repeats_itself_is_said_and_not_shown_to_the_model_again() {
    let request = attempts(3);
    for (first, ran) in [("```python\na(\na(\na(\n```", 2), ("so so so so", 1)] {
        let mut model = Planned::new(&[first, "```python\nprint(1)\n```"]);
        model.replies[0].finish = Finish::Repetition;
        let mut outcomes = VecDeque::from([raised("SyntaxError", "'(' was never closed"), printed("1\n")]);
        let (mut notes, mut cells) = (Vec::new(), 0);
        let mut cell = |code: &str| {
            cells += 1;
            Ok(if code == "print(1)" { outcomes.pop_back() } else { outcomes.pop_front() }.expect("an outcome"))
        };
        let mut observer = |event: Event<'_>| {
            if let Event::Note(note) = event {
                notes.push(note.to_owned());
            }
        };
        let answer = run(&request).drive(&mut model, &mut cell, &mut observer, &Cancel::new()).expect("an answer");
        assert_eq!((answer.success, answer.attempts, cells), (true, 2, ran));
        assert!(notes.len() == 1 && notes[0].contains("repeated itself"), "{notes:?}");
        assert!(model.told(1).contains("Print one.") && model.told(1).contains("without end"), "{}", model.told(1));
        assert!(model.asked[1].messages.iter().all(|message| !message.content.contains("a(\na(")));
    }
}

#[test]
fn a_cancel_keeps_everything_so_far() {
    let cancel = Cancel::new();
    let mut cell = |_: &str| {
        cancel.cancel();
        Ok(Outcome { stdout: "so far\n".to_owned(), ..outcome(Status::Cancelled) })
    };
    let request = attempts(3);
    let mut model = Planned::programs(&["slow()"]);
    let answer = run(&request).drive(&mut model, &mut cell, &mut |_| {}, &cancel).expect("an answer");
    assert_eq!(
        (answer.stop_reason, answer.stdout.as_str(), answer.success),
        (StopReason::Cancelled, "so far\n", false)
    );

    let mut model = Planned::new(&["```python\nprint("]);
    model.replies[0].finish = Finish::Cancelled;
    let (answer, ran) = run_over(&mut model, &request, vec![]);
    assert_eq!(
        (answer.stop_reason, answer.response.as_str(), ran.len()),
        (StopReason::Cancelled, "```python\nprint(", 0)
    );

    let answer = run(&request).drive(&mut model, &mut |_| unreachable!(), &mut |_| {}, &cancel).expect("an answer");
    assert_eq!((answer.stop_reason, answer.attempts), (StopReason::Cancelled, 0));
}

#[test]
fn events_come_in_order() {
    let mut model = Planned::programs(&["a()", "print(1)"]);
    let mut outcomes = VecDeque::from([raised("NameError", "name 'a' is not defined"), printed("1\n")]);
    let mut seen = Vec::new();
    let mut observer = |event: Event<'_>| {
        seen.push(match event {
            Event::Attempt { number, of } => format!("attempt {number}/{of}"),
            Event::Text(_) => "text".to_owned(),
            Event::Note(_) => "note".to_owned(),
            Event::Code(code) => code.to_owned(),
            Event::Outcome(outcome) => outcome.status.as_str().to_owned(),
        });
    };
    let mut cell = |_: &str| Ok(outcomes.pop_front().expect("an outcome"));
    run(&attempts(2)).drive(&mut model, &mut cell, &mut observer, &Cancel::new()).expect("an answer");
    assert_eq!(seen, ["attempt 1/2", "text", "a()", "error", "attempt 2/2", "text", "print(1)", "ok"]);
}

#[test]
fn requests_that_cannot_be_served() {
    assert!(check(&attempts(0)).is_err_and(|error| error.is_usage()));
    assert!(check(&attempts(MOST_ATTEMPTS + 1)).is_err_and(|error| error.is_usage()));
    assert!(check(&Request::new(" \n")).is_err_and(|error| error.is_usage()));
    let mut wrong = attempts(1);
    wrong.sampling.top_p = 2.0;
    assert!(check(&wrong).is_err_and(|error| error.is_usage()));
    assert!(check(&attempts(1)).is_ok());
}
