//! When the measurement of solved tasks (`benches/solve`) counts an answer as right.

#[path = "../../benches/solve/tasks.rs"]
#[allow(dead_code, reason = "the measurement reads further sets and asks with them")]
mod tasks;

use std::collections::HashSet;

use crate::python::{exec, options, python, session};

fn is_solved(task: &tasks::Task, code: &str) -> bool {
    task.is_solved(code, &exec(&mut session(options()), code), python())
}

#[test]
fn an_everyday_task_is_solved_by_the_last_lines_that_are_shown() {
    let json = r#"[{"ask": "a", "expect": "1\n2.5"}, {"ask": "b", "expect": "yes"}, {"ask": "c", "expect": "[1, 2]"}]"#;
    let tasks = tasks::everyday(json);
    for right in ["print(1); print(2.5)", "print('here:\\nfirst: 1\\n\\nsecond: 2.501')", "print('x', 1)\n2.5"] {
        assert!(is_solved(&tasks[0], right), "{right}");
    }
    for wrong in
        ["print(1)", "print(2.5)", "print(1, 2.5)", "print('1\\n2.5 m')", "print('1\\n2.6')", "print('1\\n2.5'); 1 / 0"]
    {
        assert!(!is_solved(&tasks[0], wrong), "{wrong}");
    }
    assert!(is_solved(&tasks[1], "print('Yes')") && !is_solved(&tasks[1], "print(True)"));
    assert!(is_solved(&tasks[2], "[1, 2]") && !is_solved(&tasks[2], "[1,2]; None"));
}

#[test]
fn a_function_is_right_when_its_test_passes() {
    let line = r#"{"prompt": "def twice(x):\n", "entry_point": "twice", "test": "def check(candidate):\n    assert candidate(4) == 8\n"}"#;
    let task = tasks::function(line);
    assert!(task.ask.contains("```python\ndef twice(x):\n```"), "{}", task.ask);
    assert!(is_solved(&task, "def twice(x):\n    return x + x"));
    for wrong in [
        "def twice(x):\n    return x * x",
        "print(8)",
        "def twice(x):\n    return x * x\nraise SystemExit(0)",
        "def twice(x):\n    return x + x\nprint(twice())",
    ] {
        assert!(!is_solved(&task, wrong), "{wrong}");
    }
}

/// What prompts are chosen by must not be what they are judged by.
#[test]
fn the_sets_share_nothing_with_each_other() {
    let asked = |json| tasks::everyday(json).into_iter().map(|task| task.ask.to_lowercase()).collect::<HashSet<_>>();
    let (judged, chosen) =
        (asked(include_str!("../../benches/solve/tasks.json")), asked(include_str!("../../benches/solve/dev.json")));
    assert!(judged.len() > 50 && chosen.len() > 60);
    assert_eq!(judged.intersection(&chosen).next(), None);
}
