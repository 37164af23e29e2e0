//! The client against a server of the tests' own, which behaves as servers do, and as they should not.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::model_server::{Act, Asked, ModelServer, delta, event, models, status, stream_head, streamed};
use super::*;
use crate::model::{Finish, Message, Role, Sampling};

const PROGRAM: &str = "Sure.\n```python\nprint('é😀')\n```";

/// Nothing here waits longer than it must, nor shorter than a busy machine needs.
fn patience() -> Patience {
    Patience { pause: Duration::from_millis(1), longest_pause: Duration::from_secs(2), ..Patience::default() }
}

fn client(base: &str) -> OpenAiModel {
    OpenAiModel {
        url: BaseUrl::parse(base).unwrap(),
        name: "m:7b".into(),
        key: Some(ApiKey::of_test("sk-secret")),
        proxy: None,
        patience: patience(),
        progress: Progress::default(),
        refused: Vec::new(),
        told: Vec::new(),
    }
}

fn generate(model: &mut OpenAiModel, cancel: &Cancel) -> (Result<Reply, Refusal>, String) {
    let (sampling, mut streamed) = (Sampling::default(), String::new());
    let messages = [Message { role: Role::User, content: "Print é.".into() }];
    let prompt = Prompt::new(&messages, &sampling).with_stop(&["\n```"]).with_stop_after("```python\n");
    let reply = model.generate(&prompt, &mut |piece| streamed.push_str(piece), cancel);
    (reply, streamed)
}

fn server(answer: impl Fn(usize, &Asked) -> Vec<Act> + Send + Sync + 'static) -> ModelServer {
    ModelServer::start(answer)
}

#[track_caller]
fn reply(base: &str) -> Reply {
    let (reply, streamed) = generate(&mut client(base), &Cancel::new());
    let reply = reply.unwrap();
    assert_eq!(reply.text, streamed);
    reply
}

#[track_caller]
fn error(base: &str) -> Error {
    match generate(&mut client(base), &Cancel::new()).0 {
        Err(Refusal::Failed(error)) => {
            assert!(!format!("{error:?}").contains("sk-secret"), "{error:?}");
            assert!(!error.to_string().contains('\n') && error.advice().is_some_and(|advice| !advice.contains('\n')));
            error
        }
        other => panic!("{other:?}"),
    }
}

/// The error when every request is answered so.
#[track_caller]
fn error_of(acts: Vec<Act>) -> Error {
    let server = server(move |_, _| acts.clone());
    error(&server.base())
}

#[test]
fn a_stream_is_a_reply() {
    let server = server(|_, _| vec![Act::Send(streamed(PROGRAM).into_bytes())]);
    let reply = reply(&server.base());
    assert_eq!(reply, Reply::new(PROGRAM, Finish::Stop).with_tokens(11, 7));
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /v1/chat/completions");
    for header in
        ["authorization: bearer sk-secret\r\n", "content-type: application/json\r\n", "accept: text/event-stream"]
    {
        assert!(asked.head.contains(header), "{}", asked.head);
    }
    assert!(!asked.head.contains("accept-encoding"), "{}", asked.head);
    assert_eq!(asked.body["messages"], json!([{"role": "user", "content": "Print é."}]));
    assert_eq!((&asked.body["model"], &asked.body["stream"]), (&json!("m:7b"), &json!(true)));
}

#[test]
fn bytes_may_come_one_by_one() {
    let server = server(|_, _| streamed(PROGRAM).into_bytes().into_iter().map(|byte| Act::Send(vec![byte])).collect());
    assert_eq!(reply(&server.base()).text, PROGRAM);
}

#[test]
fn a_server_that_does_not_stream_will_do() {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": PROGRAM}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4}});
    let server = server(move |_, _| vec![status(200, "content-type: application/json\r\n", &body.to_string())]);
    assert_eq!(reply(&server.base()), Reply::new(PROGRAM, Finish::Stop).with_tokens(3, 4));
}

#[test]
fn we_hang_up_when_the_program_is_there() {
    let server =
        server(|_, _| vec![stream_head(), event(&delta(PROGRAM)), event(&delta("\nIt prints ")), Act::AwaitHangUp]);
    assert_eq!(reply(&server.base()).text, PROGRAM);
    server.await_hang_up();
}

#[test]
fn what_breaks_after_the_program_does_no_harm() {
    for after in ["data: {\"broken\n\n", "data: \u{0}\n\n", "", "data: {\"error\": \"x\"}\n\n"] {
        let server = server(move |_, _| vec![stream_head(), event(&delta(PROGRAM)), Act::Send(after.into())]);
        assert_eq!(reply(&server.base()).text, PROGRAM, "{after:?}");
    }
}

#[test]
fn a_bare_address_is_tried_in_both_places() {
    let server = server(|_, asked| match asked.line.as_str() {
        "POST /chat/completions" => vec![Act::Send(streamed(PROGRAM).into_bytes())],
        _ => vec![status(404, "", "404 page not found")],
    });
    let mut model = client(&server.bare());
    for _ in 0..2 {
        assert_eq!(generate(&mut model, &Cancel::new()).0.unwrap().text, PROGRAM);
    }
    let lines: Vec<String> = server.asked().into_iter().map(|asked| asked.line).collect();
    assert_eq!(lines, ["POST /v1/chat/completions", "POST /chat/completions", "POST /chat/completions"]);
}

#[test]
fn who_is_busy_is_asked_again() {
    for (code, headers) in [(429, ""), (503, "retry-after: 1\r\n"), (502, "retry-after: soon\r\n"), (504, "")] {
        let server = server(move |n, _| match n {
            0 => vec![status(code, headers, "{\"error\": {\"message\": \"loading\"}}")],
            _ => vec![Act::Send(streamed(PROGRAM).into_bytes())],
        });
        let begun = Instant::now();
        assert_eq!(reply(&server.base()).text, PROGRAM);
        assert_eq!(server.asked().len(), 2);
        assert_eq!(begun.elapsed() >= Duration::from_secs(1), code == 503, "as it asked");
    }
    // A connection that breaks before anything was said.
    let broken = server(|n, _| if n < 2 { Vec::new() } else { vec![Act::Send(streamed(PROGRAM).into_bytes())] });
    assert_eq!(reply(&broken.base()).text, PROGRAM);
    let cut = server(|n, _| if n < 2 { vec![stream_head()] } else { vec![Act::Send(streamed(PROGRAM).into_bytes())] });
    assert!(error(&cut.base()).to_string().contains("empty answer"), "an answer that ended well is one");
}

#[test]
fn patience_has_an_end_and_is_told() {
    let busy = server(|_, _| vec![status(503, "", "{\"error\": {\"message\": \"Loading model\"}}")]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let notes = told.clone();
    let mut model = client(&busy.base());
    model.progress = Progress::new(move |step| {
        if let Step::Note { text } = step {
            notes.lock().unwrap().push(text.to_owned());
        }
    });
    assert!(matches!(generate(&mut model, &Cancel::new()).0, Err(Refusal::Failed(error)) if error.is_unavailable()));
    let told = told.lock().unwrap();
    assert_eq!((busy.asked().len(), told.len()), (7, 6));
    assert!(told[0].contains("(503): Loading model; trying again in 0.0 s (1 of 6)"), "{told:?}");

    let long = server(|_, _| vec![status(429, "retry-after: 3600\r\n", "")]);
    assert!(error(&long.base()).advice().unwrap().contains("3600 s"));
    assert_eq!(long.asked().len(), 1);
}

#[test]
fn a_reply_that_has_begun_is_never_asked_for_again() {
    let begun = || vec![stream_head(), event(&delta("Sure"))];
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n15\r\ndata: ";
    let cut = [Act::Send(format!("{chunked}{}", &delta("").to_string()[..5]).into())].to_vec();
    for (acts, asked) in [
        (begun(), 1),
        (
            [begun(), vec![Act::Send("data: {\"error\": {\"message\": \"busy\", \"code\": 503}}\n\n".into())]].concat(),
            1,
        ),
        (cut, 3),
    ] {
        let server = server(move |_, _| acts.clone());
        let error = error(&server.base());
        assert!(
            ["broke off", "closed the connection", "busy"].iter().any(|why| error.to_string().contains(why)),
            "{error}"
        );
        assert_eq!(server.asked().len(), asked, "{error}");
    }
}

#[test]
fn each_failure_has_its_own_words() {
    let sse = |text: &[u8]| vec![stream_head(), Act::Send(text.to_vec())];
    for (acts, words) in [
        (sse(b"data: \xff\xfe\n\n"), "not UTF-8"),
        (sse(b"data: {\"choices\": [{\n\n"), "cannot be read"),
        (sse(b"data: {\"error\": {\"message\": \"out of \x1b[31mmemory\"}}\n\n"), "cannot be read"),
        (
            sse(b"data: {\"error\": {\"message\": \"out of \\u001b[31mmemory sk-secret\"}}\n\n"),
            "out of \\u001b[31mmemory (the key)",
        ),
        (sse(b"data: [DONE]\n\n"), "empty answer"),
        (vec![status(200, "content-type: text/html\r\n", "<!DOCTYPE html><p>Welcome")], "a web page"),
        (vec![status(200, "", "")], "empty answer"),
        (vec![status(200, "", "{}")], "cannot be read"),
        (vec![status(200, "content-encoding: gzip\r\n", "\u{1f}")], "compressed"),
        (
            vec![status(401, "", "{\"error\": {\"message\": \"Incorrect key sk-secret\"}}")],
            "refuses access (401): Incorrect key (the key)",
        ),
        (vec![status(404, "", "nothing here")], "no chat API there (404)"),
        (vec![status(500, "", "{\"error\": \"boom\"}")], "answered 500: boom"),
        (vec![Act::Send("SSH-2.0-OpenSSH_9\r\n\r\n".into())], "not in HTTP"),
        (vec![Act::Send(format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(1 << 20)).into())], "not in HTTP"),
    ] {
        let error = error_of(acts);
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    assert!(error(&ModelServer::nowhere()).to_string().contains("refuses the connection"));
    assert!(error("http://no-such-host.invalid/v1").to_string().contains("cannot be found"));
}

#[test]
fn tls_where_there_is_none_says_so() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    let plain = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 5];
        stream.read_exact(&mut hello).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Until the client has left, so that it reads this first.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    // A machine without any certificates fails before that; it is about them then.
    let error = error(&url);
    assert!(error.to_string().contains("TLS") || error.to_string().contains("ertificate"), "{error}");
    drop(plain);
}

#[test]
fn nothing_is_read_without_bound() {
    let line = vec![stream_head(), Act::Endless(vec![b'x'; 1 << 16])];
    assert!(error_of(line).to_string().contains("more than 1 MiB"));
    let pings = vec![stream_head(), Act::Endless(b": ping\n\n".repeat(4096))];
    assert!(error_of(pings).to_string().contains("more than 64 MiB"));
    let text = format!("data: {}\n\n", delta(&"x".repeat(1 << 15)));
    assert!(error_of(vec![stream_head(), Act::Endless(text.into())]).to_string().contains("more than 4 MiB"));
    let failure = b"HTTP/1.1 500 Oh\r\n\r\n".to_vec();
    let error = error_of(vec![Act::Send(failure), Act::Endless(vec![b'x'; 1 << 16])]);
    assert!(error.to_string().contains("answered 500") && error.to_string().len() < 500, "{error}");
}

#[test]
fn a_cancel_ends_every_wait_and_hangs_up() {
    for acts in [
        vec![Act::AwaitHangUp],
        vec![stream_head(), Act::AwaitHangUp],
        vec![stream_head(), event(&delta("so far")), Act::AwaitHangUp],
    ] {
        let (cancel, length) = (Cancel::new(), acts.len());
        let stop = cancel.clone();
        let server = server(move |_, _| {
            stop.cancel();
            acts.clone()
        });
        let (reply, streamed) = generate(&mut client(&server.base()), &cancel);
        let reply = reply.unwrap();
        assert_eq!((reply.finish, reply.text), (Finish::Cancelled, streamed), "{length} acts");
        server.await_hang_up();
    }
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let busy = server(move |_, _| {
        stop.cancel();
        vec![status(503, "retry-after: 2\r\n", "")]
    });
    match generate(&mut client(&busy.base()), &cancel).0 {
        Ok(reply) => assert_eq!(reply.finish, Finish::Cancelled),
        Err(refusal) => assert!(matches!(refusal, Refusal::Failed(error) if error.is_cancelled())),
    }
}

#[test]
fn silence_is_not_waited_out() {
    for acts in [vec![Act::AwaitHangUp], vec![stream_head(), event(&delta("x")), Act::AwaitHangUp]] {
        let server = server(move |_, _| acts.clone());
        let mut model = client(&server.base());
        (model.patience.first_word, model.patience.between) = (Duration::from_millis(300), Duration::from_millis(300));
        match generate(&mut model, &Cancel::new()).0 {
            Err(Refusal::Failed(error)) => assert!(error.to_string().contains("kept us waiting"), "{error}"),
            other => panic!("{other:?}"),
        }
        server.await_hang_up();
    }
}

/// What comes of `acts` when `patience` is changed.
#[track_caller]
fn ends(acts: Vec<Act>, edit: impl FnOnce(&mut Patience)) -> Result<Reply, Refusal> {
    let server = server(move |_, _| acts.clone());
    let mut model = client(&server.base());
    edit(&mut model.patience);
    let reply = soon(move || generate(&mut model, &Cancel::new()).0);
    server.await_hang_up();
    reply
}

/// What `work` returns; a wait without end is a failure.
#[track_caller]
fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    done.recv_timeout(Duration::from_secs(60)).expect("it waits for ever")
}

#[test]
fn what_only_keeps_the_connection_alive_is_not_waited_for() {
    let short = Duration::from_millis(300);
    let pings = || Act::Pings(b": ping\n\n".to_vec());
    // Before the first word, and with an event that says nothing; between two words; and in a reply that goes on and on.
    let nothing = Act::Pings(b"data: {\"choices\": []}\n\n".to_vec());
    let words = Act::Pings(format!("data: {}\n\n", delta("x")).into());
    let [first, empty, between, whole] = [
        ends(vec![stream_head(), pings()], |patience| patience.first_word = short),
        ends(vec![stream_head(), nothing], |patience| patience.first_word = short),
        ends(vec![stream_head(), event(&delta("x")), pings()], |patience| patience.between = short),
        ends(vec![stream_head(), words], |patience| patience.reply = short),
    ];
    for reply in [first, empty, between, whole] {
        match reply {
            Err(Refusal::Failed(error)) => assert!(error.to_string().contains("kept us waiting"), "{error}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn counts_are_not_waited_for_ever() {
    for after in [&b": ping\n\n"[..], format!("data: {}\n\n", delta("\n")).as_bytes()] {
        let acts = vec![stream_head(), event(&delta(PROGRAM)), Act::Pings(after.to_vec())];
        let reply = ends(acts, |patience| patience.tail = Duration::from_millis(300)).unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), (PROGRAM, Finish::Stop));
    }
}

#[test]
fn a_list_of_models_is_waited_for_shortly() {
    for acts in [vec![Act::AwaitHangUp], vec![stream_head(), Act::Pings(b" ".to_vec())]] {
        let server = server(move |_, _| acts.clone());
        let mut model = client(&server.base());
        model.patience.document = Duration::from_millis(300);
        let error = soon(move || model.first_of_its_models(&Cancel::new())).unwrap_err();
        assert!(error.to_string().contains("kept us waiting"), "{error}");
        assert!(error.advice().unwrap().contains("--model"), "{error:?}");
        server.await_hang_up();
    }
    assert!(Patience::default().document < Duration::from_secs(60));
}

#[test]
fn what_a_server_cannot_be_asked_is_told_once() {
    let server = server(|_, _| vec![Act::Send(streamed(PROGRAM).into_bytes())]);
    let (mut model, told) = (client(&server.base()), Arc::new(Mutex::new(Vec::new())));
    let notes = told.clone();
    model.progress = Progress::new(move |step| {
        if let Step::Note { text } = step {
            notes.lock().unwrap().push(text.to_owned());
        }
    });
    let mut sampling = Sampling::default();
    let mut ask = |sampling: &Sampling| {
        model.generate(&Prompt::new(&[], sampling), &mut |_| {}, &Cancel::new()).unwrap();
    };
    ask(&sampling);
    sampling.min_p = 0.1;
    ask(&sampling);
    ask(&sampling);
    sampling.top_k = 1;
    sampling.presence_penalty = 0.5;
    ask(&sampling);
    let meant = |name: &str| format!("{name} means nothing to a model server and is not sent");
    assert_eq!(*told.lock().unwrap(), [meant("min_p"), meant("top_k")]);
    assert_eq!(server.asked()[3].body["presence_penalty"], 0.5);
}

#[test]
fn a_redirect_is_told_and_not_followed() {
    let other = server(|_, _| vec![Act::Send(streamed(PROGRAM).into_bytes())]);
    for code in [301, 302, 303, 307, 308] {
        let place = format!("location: {}/chat/completions\r\n", other.base());
        let first = server(move |_, _| vec![status(code, &place, "")]);
        let error = error(&first.base());
        assert!(error.to_string().contains(&format!("redirects to `{}", other.base())), "{error}");
    }
    assert!(other.asked().is_empty(), "the key went nowhere else");
}

#[test]
fn a_full_context_is_a_refusal_with_numbers() {
    let server = server(|_, _| {
        vec![status(400, "", "{\"error\": {\"message\": \"too long\", \"n_prompt_tokens\": 900, \"n_ctx\": 512}}")]
    });
    let refusal = generate(&mut client(&server.base()), &Cancel::new()).0.unwrap_err();
    assert!(matches!(refusal, Refusal::Context { prompt_tokens: 900, n_ctx: 512 }), "{refusal:?}");
}

#[test]
fn an_unknown_model_is_answered_with_those_there_are() {
    let server = server(|_, asked| match asked.line.starts_with("GET") {
        true => vec![models(&["a", "b"])],
        false => vec![status(404, "", "{\"error\": {\"message\": \"model 'm:7b' not found\"}}")],
    });
    let error = error(&server.base());
    assert!(error.to_string().contains("has no model `m:7b`"), "{error}");
    assert_eq!(error.advice(), Some("name one of its models with --model: a, b"));
}

#[test]
fn a_field_that_is_refused_is_left_out_from_then_on() {
    let server = server(|_, asked| match asked.body.get("max_tokens") {
        Some(_) => {
            vec![status(400, "", "{\"error\": {\"message\": \"Unsupported parameter\", \"param\": \"max_tokens\"}}")]
        }
        None => vec![Act::Send(streamed(PROGRAM).into_bytes())],
    });
    let mut model = client(&server.base());
    for _ in 0..2 {
        assert_eq!(generate(&mut model, &Cancel::new()).0.unwrap().text, PROGRAM);
    }
    assert_eq!(server.asked().len(), 3);
    assert_eq!(server.asked()[2].body["max_completion_tokens"], 512);
    let stubborn =
        ModelServer::start(|_, _| vec![status(400, "", "{\"error\": {\"message\": \"no\", \"param\": \"seed\"}}")]);
    assert!(error(&stubborn.base()).to_string().contains("answered 400: no"));
    assert_eq!(stubborn.asked().len(), 2);
}

fn config(edit: impl FnOnce(&mut Config)) -> Config {
    let folder = std::env::temp_dir();
    let overrides = crate::Overrides { cache_dir: Some(folder), ..crate::Overrides::default() };
    let mut config = Config::resolve(overrides).unwrap();
    (config.model, config.api_key, config.offline) = (None, None, false);
    edit(&mut config);
    config
}

fn open(url: &str, config: &Config) -> Result<OpenAiModel> {
    OpenAiModel::open(url, config, &Progress::default(), &Cancel::new())
}

#[test]
fn the_first_model_is_taken_when_none_is_named() {
    for (names, taken) in [(&["only"][..], "only"), (&["first", "second"], "first")] {
        let server = server(move |_, _| vec![models(names)]);
        assert_eq!(open(&server.base(), &config(|_| {})).unwrap().name(), taken);
        assert_eq!(server.asked()[0].line, "GET /v1/models");
    }
    let named = config(|config| config.model = Some("named".into()));
    assert_eq!(open(&ModelServer::nowhere(), &named).unwrap().name(), "named", "nobody is asked");
}

#[test]
fn without_a_list_a_name_is_asked_for() {
    for (answer, words) in [
        (status(404, "", "not found"), "does not say which models it has (404)"),
        (status(200, "", "<html>"), "does not say which models it has"),
        (models(&[]), "has no model"),
        (status(401, "", ""), "refuses access"),
    ] {
        let server = server(move |_, _| vec![answer.clone()]);
        let error = open(&server.base(), &config(|_| {})).err().unwrap();
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.advice().unwrap().contains("--model") || words.contains("access"), "{error:?}");
    }
}

#[test]
fn offline_means_this_machine() {
    let offline = config(|config| (config.offline, config.model) = (true, Some("m".into())));
    assert!(open("http://localhost:1/v1", &offline).is_ok());
    let error = open("http://10.0.0.1:1/v1", &offline).err().unwrap();
    assert!(error.is_unavailable() && error.to_string().contains("offline"), "{error}");
}

#[test]
fn a_key_goes_where_it_is_meant_to_go() {
    let url = |text: &str| BaseUrl::parse(text).unwrap();
    let sent = |text: &str, key: ApiKey| usable_key(&url(text), Some(&key), &Progress::default()).unwrap().is_some();
    for place in ["https://h/v1", "http://localhost:1/v1", "http://127.0.0.1/v1"] {
        assert!(sent(place, ApiKey::of_test("k")) && sent(place, ApiKey::shared_of_test("k")), "{place}");
    }
    assert!(sent("http://h/v1", ApiKey::of_test("k")), "meant for this program");
    assert!(!sent("http://h/v1", ApiKey::shared_of_test("k")), "in the open, and perhaps meant for another");
    let bad = config(|config| (config.api_key, config.model) = (Some(ApiKey::of_test("a b")), Some("m".into())));
    assert!(open("http://localhost/v1", &bad).err().unwrap().is_usage());
}
