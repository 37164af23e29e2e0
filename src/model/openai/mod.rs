//! A model on a server that speaks the OpenAI API (`POST /chat/completions`): llama.cpp's, Ollama, vLLM, LM Studio,
//! mlx_lm.
//!
//! - The key comes from the environment and goes into one header, to the base URL's own host; redirects are not followed.
//! - What a server sends is untrusted: every line, document, text and wait is bounded, its words are shown in one short
//!   line, and without the key.
//! - The prefill is not sent, so [`Reply::text`] is what the server said, from its beginning. Once it ends
//!   with a stop text, the reply is over and we hang up, at which servers stop.
//! - What may pass (busy, loading, restarting) is tried again, but never after a piece of text was handed on.

mod base_url;
mod body;
mod exchange;
mod inert;
#[cfg(test)]
#[path = "../../../tests/it/model_server.rs"]
mod model_server;
mod refusal;
mod reply;
#[cfg(test)]
mod tests;
mod wire;

use ureq::Proxy;

use self::base_url::BaseUrl;
use self::body::{Body, Fault};
use self::exchange::{Exchange, Lost, Patience, Wait};
use self::refusal::{Server, Trouble};
use self::reply::Growing;
use super::http::{self, Proxies};
use super::{Model, Prompt, Refusal, Reply};
use crate::config::ApiKey;
use crate::error::OrInternal;
use crate::progress::{Progress, Step};
use crate::{Cancel, Config, Error, Result};

/// Bytes read of an error, and of a list of models.
const MOST_ERROR: usize = 64 << 10;
const MOST_LIST: usize = 4 << 20;
/// Names of models that an error or a note lists.
const MOST_NAMES: usize = 6;
/// What helps against a reply that does not come.
const SLOW: &str = "look at the server's own log; a smaller model or prompt is faster";

/// A server and the name of a model it has.
pub(super) struct OpenAiModel {
    url: BaseUrl,
    /// As it is sent.
    name: String,
    key: Option<ApiKey>,
    proxy: Option<Proxy>,
    patience: Patience,
    progress: Progress,
    /// The optional fields of a request that the server has refused.
    refused: Vec<&'static str>,
    /// What a prompt asks for in vain, as it was told.
    told: Vec<&'static str>,
}

impl OpenAiModel {
    /// The model that `config` names on the server at `url`, or its first. Only the latter asks the server.
    ///
    /// # Errors
    /// Usage, for an address, a proxy or a key that cannot be used, and for a server that does not say which models it
    /// has. Unavailable, for a server on another machine when offline, and one that cannot be asked.
    pub fn open(url: &str, config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Self> {
        let url = BaseUrl::parse(url)?;
        if config.offline && !url.is_loopback() {
            return Err(Error::unavailable(format!("offline, but the model server {url} is on another machine"))
                .advise("leave --offline out, or use a server on this machine"));
        }
        let key = usable_key(&url, config.api_key.as_ref(), progress)?;
        let proxy = Proxies::from_environment().between(url.is_https(), url.host())?;
        let name = config.model.clone().unwrap_or_default();
        let (patience, progress) = (Patience::default(), progress.clone());
        let mut model = Self { url, name, key, proxy, patience, progress, refused: Vec::new(), told: Vec::new() };
        if model.name.is_empty() {
            model.name = model.first_of_its_models(cancel)?;
        }
        Ok(model)
    }

    fn first_of_its_models(&mut self, cancel: &Cancel) -> Result<String> {
        let names = self.persist(cancel, |model| model.list(cancel)).map_err(|refusal| match refusal {
            Refusal::Failed(error) => error,
            Refusal::Context { .. } => Error::model(refusal),
        })?;
        let Some(first) = names.first() else {
            return Err(Error::unavailable(format!("the model server {} has no model", self.url))
                .advise("give it one (as `ollama pull` does), or name one with --model"));
        };
        let text = match names.len() {
            1 => format!("the model is {first}, the only one of {}", self.url),
            many => format!("the model is {first}, the first of {many} of {} (--model NAME takes another)", self.url),
        };
        self.note(&text);
        Ok(first.clone())
    }

    /// The names of the server's models.
    fn list(&self, cancel: &Cancel) -> Result<Vec<String>, Trouble> {
        let exchange = self.begin("/models", None)?;
        let wait = Wait::new(self.patience.document);
        let lost = |lost| self.lost(lost, "look at the server's own log, and name a model with --model");
        let head = exchange.head(wait, cancel).map_err(lost)?;
        let body = exchange.rest(MOST_LIST, wait, cancel).map_err(lost)?;
        let nameless = |why: &str| {
            Error::usage(format!("the model server {} does not say which models it has{why}", self.url))
                .advise("name one with --model, and check the base URL: most end in /v1")
        };
        match (head.status, wire::models(&body)) {
            (200..=299, Some(names)) => Ok(names),
            (200..=299, None) => Err(nameless("").into()),
            (404 | 405 | 501, _) => Err(Trouble::NoSuchPath(nameless(&format!(" ({})", head.status)))),
            _ => Err(self.server().refuses(&head, &body[..body.len().min(MOST_ERROR)])),
        }
    }

    /// One request for a reply; its text is handed on as it comes.
    fn ask(&self, prompt: &Prompt<'_>, on_text: &mut dyn FnMut(&str), cancel: &Cancel) -> Result<Reply, Trouble> {
        let body = wire::request(&self.name, prompt, &self.refused).or_internal("the request to the model server")?;
        let exchange = self.begin("/chat/completions", Some(body))?;
        let mut reply = Growing::new(prompt, on_text);
        let wait = Wait::new(self.patience.first_word);
        let head = match exchange.head(wait, cancel) {
            Ok(head) => head,
            Err(Lost::Cancelled) => return Ok(reply.cancelled()),
            Err(lost) => return Err(self.lost(lost, SLOW)),
        };
        if !(200..300).contains(&head.status) {
            // An error whose words do not come is still one.
            let wait = Wait::new(self.patience.document);
            let words = exchange.rest(MOST_ERROR, wait, cancel).unwrap_or_default();
            return Err(self.server().refuses(&head, &words));
        }
        if let Some(encoding) = &head.encoding {
            let encoding = self.server().shown(encoding);
            return Err(Error::model(format!("the model server {} compressed its answer ({encoding})", self.url))
                .advise("switch that off: it was not asked to")
                .into());
        }
        match self.read(&exchange, &mut reply, wait, cancel) {
            Err(Trouble::Final(Refusal::Failed(error))) if error.is_cancelled() => Ok(reply.cancelled()),
            // The program is there; what breaks after it does no harm.
            Err(_) if reply.is_whole() => self.close(reply),
            Err(Trouble::Passing { error, .. }) if !reply.is_untouched() => {
                Err(error.advise_instead("the reply had begun, so it is not asked for again").into())
            }
            Err(trouble) => Err(trouble),
            Ok(()) => self.close(reply),
        }
    }

    /// Reads the body until the reply is over. `wait` is that for its first word, and has begun with the request.
    fn read(
        &self,
        exchange: &Exchange,
        reply: &mut Growing<'_>,
        mut wait: Wait,
        cancel: &Cancel,
    ) -> Result<(), Trouble> {
        let (mut body, whole) = (Body::new(), Wait::new(self.patience.reply));
        loop {
            let bytes = exchange.bytes(wait.or(whole), cancel).map_err(|lost| self.lost(lost, SLOW))?;
            let (mut parts, was_whole) = (Vec::new(), reply.is_whole());
            let fed = match &bytes {
                Some(bytes) => body.feed(bytes, &mut parts),
                None => body.finish(&mut parts),
            };
            let says_something = !parts.is_empty();
            let mut is_over = false;
            for part in parts {
                is_over |= reply.take(part)?;
            }
            if is_over {
                return Ok(());
            }
            fed.map_err(|fault| self.server().faulty(fault))?;
            if bytes.is_none() {
                return if reply.has_ended() { Ok(()) } else { Err(self.server().faulty(Fault::Cut)) };
            }
            match (was_whole, reply.is_whole()) {
                (false, true) => wait = Wait::new(self.patience.tail),
                (false, false) if says_something => wait = Wait::new(self.patience.between),
                _ => {}
            }
        }
    }

    fn close(&self, reply: Growing<'_>) -> Result<Reply, Trouble> {
        reply.close()?.ok_or_else(|| self.server().faulty(Fault::Empty))
    }

    /// Does `attempt`, and again while what stands in its way may pass.
    fn persist<T>(
        &mut self,
        cancel: &Cancel,
        mut attempt: impl FnMut(&Self) -> Result<T, Trouble>,
    ) -> Result<T, Refusal> {
        let mut tried = 0;
        loop {
            let (error, is_busy, after) = match attempt(self) {
                Ok(done) => return Ok(done),
                Err(Trouble::Final(refusal)) => return Err(refusal),
                Err(Trouble::NoSuchPath(_)) if self.url.tries_without_v1() => continue,
                Err(Trouble::NoSuchPath(error)) => return Err(error.into()),
                Err(Trouble::NoSuchField(field, _)) if !self.refused.contains(&field) => {
                    log::info!("the model server refuses `{field}`; asking again without it");
                    self.refused.push(field);
                    continue;
                }
                Err(Trouble::NoSuchField(_, error)) => return Err(error.into()),
                Err(Trouble::NoSuchModel(error)) => return Err(self.naming_others(error, cancel).into()),
                Err(Trouble::Passing { error, is_busy, after }) => (error, is_busy, after),
            };
            let most = if is_busy { self.patience.busy_retries } else { self.patience.broken_retries };
            let longest = self.patience.longest_pause;
            if tried >= most {
                return Err(error.into());
            }
            if let Some(after) = after.filter(|after| *after > longest) {
                return Err(error.advise_instead(format!("it asks to be left alone for {} s", after.as_secs())).into());
            }
            let pause = after.unwrap_or_else(|| self.patience.pause.saturating_mul(1 << tried.min(16))).min(longest);
            tried += 1;
            self.note(&format!("{error}; trying again in {:.1} s ({tried} of {most})", pause.as_secs_f64()));
            if cancel.sleep(pause) {
                return Err(Error::cancelled().into());
            }
        }
    }

    /// `error`, which says that there is no such model, with the names of those there are.
    fn naming_others(&self, error: Error, cancel: &Cancel) -> Error {
        match self.list(cancel) {
            Ok(names) if !names.is_empty() => {
                let more = if names.len() > MOST_NAMES { ", …" } else { "" };
                let names = names.into_iter().take(MOST_NAMES).map(|name| self.server().shown(&name));
                let names = names.collect::<Vec<_>>().join(", ");
                error.advise_instead(format!("name one of its models with --model: {names}{more}"))
            }
            _ => error,
        }
    }

    fn begin(&self, path: &str, body: Option<Vec<u8>>) -> Result<Exchange> {
        let key = self.key.as_ref().map(ApiKey::secret).transpose()?;
        Exchange::begin(&self.url.to(path), key, body, self.proxy.clone(), &self.patience)
    }

    fn server(&self) -> Server<'_> {
        Server { url: &self.url, key: self.key.as_ref(), model: &self.name }
    }

    /// `advice` is for a server that does not go on.
    fn lost(&self, lost: Lost, advice: &str) -> Trouble {
        match lost {
            Lost::Cancelled => Error::cancelled().into(),
            Lost::Silent(waited) => {
                let text = format!("the model server {} kept us waiting for {} s", self.url, waited.as_secs());
                Error::model(text).advise(advice).into()
            }
            Lost::Broken(broken) => self.server().breaks(broken),
        }
    }

    /// Says once what the prompt asks for and the API has no field for.
    fn tell_of_vain(&mut self, prompt: &Prompt<'_>) {
        let vain = wire::vain(prompt).into_iter().filter(|name| !self.told.contains(name)).collect::<Vec<_>>();
        if !vain.is_empty() {
            self.note(&format!("{} means nothing to a model server and is not sent", vain.join(", ")));
            self.told.extend(vain);
        }
    }

    fn note(&self, text: &str) {
        log::info!("{text}");
        self.progress.step(Step::Note { text });
    }
}

/// The key, if it may be sent to `url`; a bad one is refused here.
fn usable_key(url: &BaseUrl, key: Option<&ApiKey>, progress: &Progress) -> Result<Option<ApiKey>> {
    let Some(key) = key else { return Ok(None) };
    key.secret()?;
    if http::is_private(url.is_https(), url.host()) {
        return Ok(Some(key.clone()));
    }
    // Whoever set our own variable means this server. The other one may be set for another program, and is worth money.
    let (variable, host) = (key.variable(), url.host());
    let (text, sent) = match key.is_shared() {
        true => (format!("the key in {variable} is not sent to {host}, which is reached without encryption"), None),
        false => (format!("the key in {variable} is sent to {host} without encryption"), Some(key.clone())),
    };
    progress.step(Step::Note { text: &text });
    Ok(sent)
}

impl Model for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal> {
        self.tell_of_vain(prompt);
        self.persist(cancel, |model| model.ask(prompt, on_text, cancel))
    }
}
