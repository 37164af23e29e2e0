//! Sessions and their ends, through the library's public API.

use slm_code_interpreter::model::ScriptedModel;
use slm_code_interpreter::{Cancel, CodeInterpreter, Request, Session, Status};

use crate::python::{options, python};

fn session() -> Session {
    crate::python::session(options())
}

const BYE: &str = "import atexit; atexit.register(lambda: print('bye')); x = 1";

#[test]
fn a_session_ends_once_and_goes_on_afresh_over_its_files() {
    let (mut session, cancel) = (session(), Cancel::new());
    assert!(session.finish(&cancel).expect("an end").is_none(), "nothing ran");
    session.exec(BYE, &cancel).expect("an outcome");
    session.exec("open('kept', 'w').close()", &cancel).expect("an outcome");
    let end = session.finish(&cancel).expect("an end").expect("handlers");
    assert_eq!((end.status, end.stdout.as_str()), (Status::Ok, "bye\n"));
    assert!(session.finish(&cancel).expect("an end").is_none(), "it has ended");
    let after =
        session.exec("import os\nprint(os.path.exists('kept'), 'x' in globals())", &cancel).expect("an outcome");
    assert_eq!(after.stdout, "True False\n");
}

#[test]
fn a_session_whose_interpreter_died_has_no_end() {
    let (mut session, cancel) = (session(), Cancel::new());
    session.exec(&format!("{BYE}\nimport os\nos._exit(2)"), &cancel).expect("an outcome");
    assert!(session.finish(&cancel).expect("an end").is_none());
}

#[test]
fn a_run_to_its_end_has_the_handlers_output_and_leaves_the_session_usable() {
    let program = "import atexit\natexit.register(lambda: print('bye'))\nprint('hi')";
    let script = ScriptedModel::from_replies(vec![format!("```python\n{program}\n```")]);
    let builder = CodeInterpreter::builder().python(python().clone()).custom_model(Box::new(script));
    assert!(format!("{builder:?}").contains("scripted"));
    let interpreter = builder.build().expect("an interpreter");
    assert!(format!("{interpreter:?}").contains("scripted"));
    let (mut session, cancel) = (session(), Cancel::new());
    let request = Request::new("Greet.").max_retries(1);
    let answer = interpreter.run_to_end(&mut session, &request, &mut |_| {}, &cancel).expect("an answer");
    assert_eq!((answer.success, answer.stdout.as_str()), (true, "hi\nbye\n"));
    assert_eq!(answer.outcome().expect("an outcome").stdout, "hi\nbye\n");
    assert_eq!(session.exec("1 + 1", &cancel).expect("an outcome").status, Status::Ok);
}
