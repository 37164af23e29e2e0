//! The built program as a child process: its exit code and its streams, within a bound that only a hang reaches.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::Value;

/// Far beyond what any test takes, on a busy machine too.
const HANG: Duration = Duration::from_secs(120);
/// Fetching and building everything, once a machine.
const BUILD: Duration = Duration::from_secs(1800);

pub struct Done {
    /// `None`: ended by a signal.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// The whole of stdout as the one JSON document it must be.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.stdout, self.stderr))
    }

    /// Checks the exit code, and shows the rest if it is another one.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout {:?}\nstderr {:?}", self.stdout, self.stderr);
        self
    }
}

/// The program, with this process's settings for it (so that a cache that is already built serves), nothing on stdin.
pub fn tool(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slm-code-interpreter"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("SLM_CODE_INTERPRETER_LOG").env_remove("SLM_CODE_INTERPRETER_MODEL");
    command.env_remove("SLM_CODE_INTERPRETER_BASE_URL");
    // No test of the program meets the real hub, or what is fetched from it.
    for name in ["HF_TOKEN", "HF_HUB_OFFLINE", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"] {
        command.env_remove(name);
    }
    command.env("HF_ENDPOINT", "http://127.0.0.1:9").env("HF_HOME", "/nowhere/at/all");
    command
}

/// The program on a machine that has nothing and reaches nothing.
pub fn bare_tool(cache: &Path, arguments: &[&str]) -> Command {
    let mut command = tool(arguments);
    for name in ["MODEL_PATH", "CONFIG", "PYTHON_WHEEL", "ONNXRUNTIME", "MODEL_WHEEL", "CACHE_DIR"] {
        command.env_remove(format!("SLM_CODE_INTERPRETER_{name}"));
    }
    command.arg("--offline").arg("--cache-dir").arg(cache);
    command
}

/// Runs it to its end.
#[track_caller]
pub fn run(arguments: &[&str]) -> Done {
    ready();
    finish(tool(arguments))
}

/// Runs it to its end with `input` piped in.
#[track_caller]
pub fn run_with(arguments: &[&str], input: &str) -> Done {
    ready();
    let mut child = tool(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // It may end without reading; that is for the test to judge.
    std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    wait(child, HANG)
}

#[track_caller]
pub fn finish(mut command: Command) -> Done {
    wait(command.spawn().unwrap(), HANG)
}

/// The sandbox is built, so that no test's time holds the minutes of a first build.
#[track_caller]
pub fn ready() {
    static READY: OnceLock<Option<String>> = OnceLock::new();
    let trouble = READY.get_or_init(|| {
        let built = wait(tool(&["exec", "-c", "pass"]).spawn().unwrap(), BUILD);
        (built.code != Some(0)).then_some(built.stderr)
    });
    assert_eq!(trouble.as_deref(), None, "the sandbox could not be made ready");
}

/// Waits for the end, and ends what hangs.
#[track_caller]
pub fn wait(mut child: Child, patience: Duration) -> Done {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        let err = std::thread::spawn(move || stderr.map(text).unwrap_or_default());
        let out = stdout.map(text).unwrap_or_default();
        // A dropped receiver: nobody waits any more.
        let _ = done.send((out, err.join().unwrap()));
    });
    let Ok((stdout, stderr)) = is_done.recv_timeout(patience) else {
        child.kill().unwrap();
        panic!("it hangs");
    };
    Done { code: child.wait().unwrap().code(), stdout, stderr }
}

fn text(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).expect("only valid UTF-8 comes out")
}
