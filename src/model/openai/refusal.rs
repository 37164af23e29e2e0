//! What a server's refusal means, and what the person can do about it.

use std::fmt::Write;
use std::time::Duration;

use serde_json::Value;

use super::base_url::BaseUrl;
use super::body::Fault;
use super::exchange::Head;
use super::wire;
use crate::Error;
use crate::config::ApiKey;
use crate::model::Refusal;
use crate::model::http::Broken;

/// Characters of a server's own words that are shown.
const MOST_WORDS: usize = 300;

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Worth another try as long as nothing of the reply has come: after so long, if the server says so.
    Passing {
        error: Error,
        is_busy: bool,
        after: Option<Duration>,
    },
    /// There is nothing at this path.
    NoSuchPath(Error),
    /// It has other models.
    NoSuchModel(Error),
    /// It does not take this optional field of the request.
    NoSuchField(&'static str, Error),
    Final(Refusal),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Final(Refusal::Failed(error))
    }
}

/// Who refuses, and to whom.
pub(super) struct Server<'a> {
    pub url: &'a BaseUrl,
    pub key: Option<&'a ApiKey>,
    pub model: &'a str,
}

impl Server<'_> {
    /// What an answer with `head`, which is no success, and the body `text` means.
    pub fn refuses(&self, head: &Head, text: &[u8]) -> Trouble {
        let (url, status) = (self.url, head.status);
        let value = serde_json::from_slice::<Value>(text).ok();
        let words = value.as_ref().and_then(wire::error_text);
        if let Some(refusal) = value.as_ref().zip(words.as_ref()).and_then(|(value, words)| context(value, words)) {
            return refusal.into();
        }
        let words = words.or_else(|| plain(text)).map(|words| self.shown(&words));
        let said = words.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
        let failed = |why: &str| Error::unavailable(format!("the model server {url} {why}{said}"));
        match status {
            401 | 403 => failed(&format!("refuses access ({status})")).advise(self.about_key()).into(),
            404 | 405
                if value.is_some() && words.as_ref().is_some_and(|words| words.to_lowercase().contains("model")) =>
            {
                Trouble::NoSuchModel(
                    failed(&format!("has no model `{}`", self.model)).advise("name one of its models with --model"),
                )
            }
            // A web server that knows nothing of models says 501 to any POST.
            404 | 405 | 501 => Trouble::NoSuchPath(
                failed(&format!("has no chat API there ({status})"))
                    .advise("most base URLs end in /v1; check --base-url"),
            ),
            429 | 502 | 503 | 504 => Trouble::Passing {
                error: failed(&format!("is busy or not ready ({status})"))
                    .advise("wait until it has loaded its model or has room, then try again"),
                is_busy: true,
                after: head.retry_after,
            },
            300..=399 => {
                let place = head.location.as_deref().map(|place| self.shown(place)).unwrap_or_default();
                failed(&format!("redirects to `{place}`, which is not followed ({status})"))
                    .advise("give the address it names as --base-url, if you trust it")
                    .into()
            }
            _ => {
                let about = |topic: &str| words.as_ref().is_some_and(|words| words.to_lowercase().contains(topic));
                let advice = match status {
                    400 | 413 | 422 if about("context") || status == 413 => {
                        "shorten the instruction or the input, or start the server with a larger context"
                    }
                    400 | 422 if about("system") => "its model may know no system prompt: try --system-prompt \"\"",
                    400 | 422 => "correct what it names; its own log may say more",
                    _ => "look at the server's own log",
                };
                let error = Error::model(format!("the model server {url} answered {status}{said}")).advise(advice);
                match value.as_ref().and_then(wire::refused_field).filter(|_| matches!(status, 400 | 422)) {
                    Some(field) => Trouble::NoSuchField(field, error),
                    None => error.into(),
                }
            }
        }
    }

    /// What a body that is no reply means.
    pub fn faulty(&self, fault: Fault) -> Trouble {
        let url = self.url;
        let failed = |why: &str| Error::model(format!("the model server {url} {why}"));
        match fault {
            Fault::Html => failed("sent a web page, not an answer of the API")
                .advise("most base URLs end in /v1; check --base-url")
                .into(),
            Fault::NotJson(why) => failed(&format!("sent an answer that cannot be read: {}", self.shown(&why)))
                .advise("check that it speaks the OpenAI API (chat completions)")
                .into(),
            Fault::NotUtf8 => failed("sent text that is not UTF-8").advise("look at the server's own log").into(),
            Fault::TooLong(most) => failed(&format!("sent more than {} MiB where an answer is short", most >> 20))
                .advise("check that it speaks the OpenAI API (chat completions)")
                .into(),
            Fault::Cut => failed("broke off before its reply had ended")
                .advise("look at the server's own log; it may have run out of memory")
                .into(),
            Fault::Empty => failed("sent an empty answer").advise("look at the server's own log").into(),
            Fault::Error(value) => {
                let words = wire::error_text(&value).unwrap_or_default();
                if let Some(refusal) = context(&value, &words) {
                    return refusal.into();
                }
                failed(&format!("reports an error: {}", self.shown(&words)))
                    .advise("look at the server's own log")
                    .into()
            }
        }
    }

    /// What a connection that failed means.
    pub fn breaks(&self, broken: Broken) -> Trouble {
        let url = self.url;
        let is_passing = matches!(broken, Broken::Refused | Broken::Cut);
        let failed = |why: &str| Error::unavailable(format!("the model server {url} {why}"));
        let error = match broken {
            Broken::Refused => failed("refuses the connection: nothing listens there")
                .advise("start the server, or correct the port in --base-url"),
            Broken::UnknownHost => {
                failed("cannot be found: its name has no address").advise("check the host's name in --base-url")
            }
            Broken::Unconnected => failed("did not accept the connection in time").advise(match url.is_https() {
                true => "check --base-url: a server without certificate is reached by http://, not https://",
                false => "check host and port in --base-url, and that no firewall stands between",
            }),
            Broken::Silent => failed("stopped answering").advise("look at the server's own log, and at the network"),
            Broken::Cut => failed("closed the connection before it had answered")
                .advise("look at the server's own log; it may have run out of memory"),
            Broken::Certificate(why) => failed(&format!("has a certificate that is not trusted: {why}"))
                .advise("add the authority that signed it to this machine's certificates, or correct the host's name"),
            Broken::Tls(why) => failed(&format!("does not speak TLS as it should: {why}"))
                .advise("a server without certificate is reached by http://, not https://"),
            Broken::Proxy(why) => failed(&format!("is not reached through the proxy: {why}"))
                .advise(format!("correct HTTPS_PROXY or HTTP_PROXY, or add {} to NO_PROXY", url.host())),
            Broken::NotHttp(why) => failed(&format!("answers, but not in HTTP/1.1: {why}"))
                .advise("check the port in --base-url; a server that speaks TLS is reached by https://"),
            Broken::Network(why) | Broken::Other(why) => {
                failed(&format!("cannot be reached: {why}")).advise("check --base-url and the network")
            }
        };
        match is_passing {
            true => Trouble::Passing { error, is_busy: false, after: None },
            false => error.into(),
        }
    }

    /// A server's own words, as they may be shown: one line, bounded, nothing that a terminal obeys, never the key.
    pub fn shown(&self, words: &str) -> String {
        let secret = self.key.and_then(|key| key.secret().ok());
        let words = secret.map_or_else(|| words.to_owned(), |secret| words.replace(secret, "(the key)"));
        let mut shown = String::new();
        for c in words.split_whitespace().flat_map(|word| word.chars().chain([' '])).take(MOST_WORDS) {
            let reorders =
                matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            match c.is_control() || reorders {
                // Writing to a String cannot fail.
                true => write!(shown, "\\u{:04x}", u32::from(c)).unwrap_or_default(),
                false => shown.push(c),
            }
        }
        shown.trim_end().to_owned()
    }

    fn about_key(&self) -> String {
        match self.key {
            Some(key) => format!("the key came from {}: is it right for this server?", key.variable()),
            None => format!("put its key into the variable {}", ApiKey::OWN),
        }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Final(refusal)
    }
}

/// The words of an error that is plain text, not a page.
fn plain(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    (!text.is_empty() && !text.starts_with(['<', '{', '['])).then(|| text.to_owned())
}

/// Whether an error says that the prompt does not fit into the context, with both numbers.
fn context(value: &Value, words: &str) -> Option<Refusal> {
    let error = value.get("error").unwrap_or(value);
    let field = |name: &str| error.get(name).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    if let (Some(prompt_tokens), Some(n_ctx)) = (field("n_prompt_tokens"), field("n_ctx")) {
        return Some(Refusal::Context { prompt_tokens, n_ctx });
    }
    let words = words.to_lowercase();
    let at = ["context length", "context size", "context window", "maximum context", "n_ctx"]
        .into_iter()
        .filter_map(|phrase| words.find(phrase))
        .min()?;
    // "maximum context length is 4096 tokens. However, … 5000 tokens (4488 in the messages, …)"
    let numbers: Vec<(usize, usize)> = numbers(&words);
    let (place, n_ctx) = *numbers.iter().find(|(place, _)| *place > at)?;
    let of_prompt = |mark: &str| numbers.iter().find(|(_, number)| words.contains(&format!("{number} {mark}")));
    let prompt = of_prompt("in the messages")
        .or_else(|| of_prompt("input tokens"))
        .or_else(|| numbers.iter().filter(|(other, _)| *other != place).max_by_key(|(_, number)| *number))?;
    Some(Refusal::Context { prompt_tokens: prompt.1, n_ctx })
}

/// The whole numbers in `text`, with where each begins.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut numbers = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let end = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |at| start + at);
        numbers.extend(text[start..end].parse().ok().map(|number| (start, number)));
        from = end;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn url() -> BaseUrl {
        BaseUrl::parse("http://h:1/v1").unwrap()
    }

    fn refusal(status: u16, text: &str) -> Trouble {
        let (url, key) = (url(), ApiKey::of_test("sk-secret"));
        let head = Head { status, location: Some("http://other/".into()), retry_after: None, encoding: None };
        Server { url: &url, key: Some(&key), model: "m:7b" }.refuses(&head, text.as_bytes())
    }

    fn final_error(trouble: Trouble) -> Error {
        match trouble {
            Trouble::Final(Refusal::Failed(error)) | Trouble::NoSuchModel(error) => error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_refusal_has_its_own_words_and_advice() {
        let error = |text: &str| json!({"error": {"message": text}}).to_string();
        for (status, text, message, advice) in [
            (
                401,
                error("bad key sk-secret!"),
                "refuses access (401): bad key (the key)!",
                "SLM_CODE_INTERPRETER_API_KEY",
            ),
            (403, String::new(), "refuses access (403)", "SLM_CODE_INTERPRETER_API_KEY"),
            (404, error("model \"m:7b\" not found, try pulling it"), "has no model `m:7b`", "--model"),
            (307, String::new(), "redirects to `http://other/`", "--base-url"),
            (400, error("System role not supported"), "answered 400: System role", "--system-prompt"),
            (400, error("bad \u{1b}[31m\nred"), "answered 400: bad \\u001b[31m red", "own log"),
            (400, error("the context is full"), "answered 400: the context", "larger context"),
            (422, json!({"detail": "x"}).to_string(), "answered 422: x", "own log"),
            (500, "plain words".into(), "answered 500: plain words", "own log"),
            (500, "<html>".into(), "answered 500", "own log"),
            (507, "\u{fffd}".repeat(9999), "answered 507", "own log"),
        ] {
            let error = final_error(refusal(status, &text));
            assert!(error.to_string().contains(message), "{status}: {error}");
            assert!(error.advice().unwrap().contains(advice), "{status}: {error:?}");
            assert!(error.to_string().chars().count() < 500 && !error.to_string().contains('\n'), "{error}");
        }
        for (status, text) in
            [(404, ""), (404, "404 page not found"), (405, "{\"detail\": \"Method Not Allowed\"}"), (501, "")]
        {
            let trouble = refusal(status, text);
            assert!(
                matches!(&trouble, Trouble::NoSuchPath(error) if error.advice().unwrap().contains("/v1")),
                "{trouble:?}"
            );
        }
        for status in [429, 502, 503, 504] {
            assert!(matches!(refusal(status, "busy"), Trouble::Passing { is_busy: true, .. }));
        }
    }

    #[test]
    fn without_a_key_its_variable_is_named() {
        let url = url();
        let head = Head { status: 401, location: None, retry_after: None, encoding: None };
        let error = final_error(Server { url: &url, key: None, model: "m" }.refuses(&head, b""));
        assert!(error.advice().unwrap().contains("put its key into the variable SLM_CODE_INTERPRETER_API_KEY"));
    }

    #[test]
    fn a_context_that_is_full_is_told_with_its_numbers() {
        for (body, prompt, size) in [
            (
                json!({"error": {"code": 400, "message": "request (1234 tokens) exceeds the available context size (512 tokens), try increasing it", "n_prompt_tokens": 1234, "n_ctx": 512}}),
                1234,
                512,
            ),
            (
                json!({"error": {"message": "request (1234 tokens) exceeds the available context size (512 tokens)"}}),
                1234,
                512,
            ),
            (
                json!({"message": "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens (2488 in the messages, 512 in the completion). Please reduce"}),
                2488,
                2048,
            ),
            (
                json!({"error": {"message": "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens."}}),
                5000,
                4097,
            ),
            (
                json!({"error": {"message": "'max_tokens' is too large: 512. This model's maximum context length is 2048 tokens and your request has 1800 input tokens (512 > 2048 - 1800)."}}),
                1800,
                2048,
            ),
            (
                json!({"error": "Trying to keep the first 2000 tokens when context the overflows. However, the model is loaded with context length of 1024 tokens"}),
                2000,
                1024,
            ),
        ] {
            match refusal(400, &body.to_string()) {
                Trouble::Final(Refusal::Context { prompt_tokens, n_ctx }) => {
                    assert_eq!((prompt_tokens, n_ctx), (prompt, size))
                }
                other => panic!("{body}: {other:?}"),
            }
        }
        for words in ["the context size is exceeded", "context length 99999999999999999999999 is too much", "400 bad"] {
            let error = final_error(refusal(400, &json!({"error": words}).to_string()));
            assert!(error.to_string().contains("answered 400"), "{error}");
        }
    }
}
