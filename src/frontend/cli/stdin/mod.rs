//! Text from standard input and from files: bounded, interruptible, and never a wait that nobody asked for.

#[cfg(not(unix))]
#[path = "other.rs"]
mod kind;
#[cfg(unix)]
#[path = "unix.rs"]
mod kind;

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::console::Console;
use crate::{Cancel, Error, Result};

/// More than any program or prompt needs; larger data belongs into a file given with `--file`.
const MOST_BYTES: u64 = 16 << 20;
/// An answer to a question.
const MOST_LINE: u64 = 1000;
/// How long a pipe that nobody mentioned may stay silent before it is taken for one that was only inherited.
const PATIENCE: Duration = Duration::from_secs(5);
/// After this a person is told what is being waited for.
const NOTICE: Duration = Duration::from_secs(1);
/// How often a wait looks at the cancel handle.
const GLANCE: Duration = Duration::from_millis(20);

/// All of standard input, because the caller asked for it: waits for as long as it takes.
pub fn whole(cancel: &Cancel) -> Result<String> {
    let bytes = drain("standard input", || Ok(io::stdin()), None, &mut || {}, cancel)?;
    text("standard input", bytes)
}

/// What was piped in, if anything was: read only when standard input is a pipe or a file, and given up when a pipe
/// has brought nothing for a while, as one inherited from a service or a remote shell never does.
pub fn piped(console: &Console, cancel: &Cancel) -> Result<Option<String>> {
    if !kind::carries_data() {
        return Ok(None);
    }
    let mut notice = || console.say("waiting for data on standard input (`< /dev/null` says that there is none)");
    let bytes = drain("standard input", || Ok(io::stdin()), Some(PATIENCE), &mut notice, cancel)?;
    if bytes.is_none() {
        console.warn("standard input stayed silent and is left alone; `--user-input @-` waits for it");
    }
    text("standard input", bytes).map(|text| Some(text).filter(|text| !text.is_empty()))
}

/// A line that a person types, without its end; `None` when standard input ends before one.
pub fn line(cancel: &Cancel) -> Result<Option<String>> {
    // A read cannot be interrupted, so it has a thread of its own, which is left behind after a cancel.
    let (sender, lines) = sync_channel(1);
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().take(MOST_LINE).read_line(&mut line);
        // A dropped receiver: nobody waits any more.
        drop(sender.send(read.map(|read| (read > 0).then_some(line))));
    });
    loop {
        cancel.check()?;
        match lines.recv_timeout(GLANCE) {
            Ok(Ok(line)) => return Ok(line.map(|line| line.trim().to_owned())),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// A text file named on the command line. A pipe may be named too, as the shell's `<(command)` does: like standard
/// input it is waited for, until the work is cancelled.
pub fn file(path: &Path, cancel: &Cancel) -> Result<String> {
    let name = path.display().to_string();
    let found = path.metadata().map_err(|error| Error::usage(error).context(format!("cannot read {name}")))?;
    if found.is_dir() {
        return Err(Error::usage(format!("cannot read {name}: a folder")));
    }
    let place = path.to_owned();
    let bytes = drain(&name, move || File::open(place), None, &mut || {}, cancel)?;
    text(&name, bytes)
}

fn text(source: &str, bytes: Option<Vec<u8>>) -> Result<String> {
    let bytes = bytes.unwrap_or_default();
    let advice = "data goes in with --file, and the program opens it in /work";
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::usage(format!("{source} holds more than {} MiB", MOST_BYTES >> 20)).advise(advice));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| Error::usage(format!("{source} is not UTF-8 text")).advise(advice))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads what `open` opens to the end, or to just over the bound. `None`: not a byte, and no end, within `patience`.
fn drain<R: Read>(
    name: &str,
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
    patience: Option<Duration>,
    notice: &mut dyn FnMut(),
    cancel: &Cancel,
) -> Result<Option<Vec<u8>>> {
    // Neither opening nor reading can be interrupted, so they have a thread of their own, which is left behind when
    // nobody waits any more.
    let (sender, pieces) = sync_channel::<io::Result<Vec<u8>>>(1);
    std::thread::spawn(move || {
        let mut source = match open() {
            Ok(source) => source,
            Err(error) => return drop(sender.send(Err(error))),
        };
        loop {
            let mut piece = vec![0; 64 << 10];
            let read = source.read(&mut piece).map(|length| {
                piece.truncate(length);
                piece
            });
            let last = !matches!(&read, Ok(piece) if !piece.is_empty());
            if matches!(&read, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                continue;
            }
            if sender.send(read).is_err() || last {
                return;
            }
        }
    });
    let (start, mut noticed, mut bytes) = (Instant::now(), false, Vec::new());
    while bytes.len() as u64 <= MOST_BYTES {
        cancel.check()?;
        match pieces.recv_timeout(GLANCE) {
            Ok(Ok(piece)) if piece.is_empty() => break,
            Ok(Ok(piece)) => bytes.extend_from_slice(&piece),
            Ok(Err(error)) => return Err(Error::usage(error).context(format!("cannot read {name}"))),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if !bytes.is_empty() => {}
            Err(RecvTimeoutError::Timeout) => {
                if patience.is_some_and(|patience| start.elapsed() >= patience) {
                    return Ok(None);
                }
                if !noticed && start.elapsed() >= NOTICE {
                    noticed = true;
                    notice();
                }
            }
        }
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: impl Read + Send + 'static, patience: Option<Duration>) -> Result<Option<Vec<u8>>> {
        drain("it", || Ok(source), patience, &mut || {}, &Cancel::new())
    }

    /// Brings nothing and does not end while the other end lives.
    fn silent_pipe() -> (io::PipeReader, io::PipeWriter) {
        io::pipe().unwrap()
    }

    #[test]
    fn what_is_there_is_read_to_its_end() {
        assert_eq!(read(&b"a,b\n1,2\n"[..], None).unwrap().unwrap(), b"a,b\n1,2\n");
        assert_eq!(read(io::empty(), Some(Duration::from_secs(60))).unwrap(), Some(Vec::new()));
        let (reader, mut writer) = silent_pipe();
        let late = std::thread::spawn(move || {
            for piece in ["late", " but", " whole"] {
                io::Write::write_all(&mut writer, piece.as_bytes()).unwrap();
            }
        });
        assert_eq!(read(reader, None).unwrap().unwrap(), b"late but whole");
        late.join().unwrap();
    }

    #[test]
    fn a_silent_pipe_is_given_up_and_a_cancelled_wait_ends() {
        let (reader, _writer) = silent_pipe();
        assert_eq!(read(reader, Some(Duration::ZERO)).unwrap(), None);
        let (reader, _writer) = silent_pipe();
        let cancel = Cancel::new();
        cancel.cancel();
        assert!(drain("it", || Ok(reader), None, &mut || {}, &cancel).unwrap_err().is_cancelled());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_is_named_is_read_and_a_wait_for_its_writer_can_be_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
            path
        };
        let cancelled = Cancel::new();
        cancelled.cancel();
        assert!(file(&pipe("nobody writes to it"), &cancelled).unwrap_err().is_cancelled());
        let pipe = pipe("pipe");
        let writer = {
            let pipe = pipe.clone();
            std::thread::spawn(move || std::fs::write(pipe, "through a pipe").unwrap())
        };
        assert_eq!(file(&pipe, &Cancel::new()).unwrap(), "through a pipe");
        writer.join().unwrap();
        assert!(file(folder.path(), &Cancel::new()).unwrap_err().to_string().contains("a folder"));
        let none = file(&folder.path().join("none"), &Cancel::new()).unwrap_err();
        assert!(none.is_usage() && none.to_string().contains("none: "), "{none}");
    }

    #[test]
    fn too_much_and_not_text_are_refused() {
        let endless = read(io::repeat(b'x'), None).unwrap();
        assert!(text("standard input", endless).unwrap_err().to_string().contains("more than 16 MiB"));
        assert!(text("x", Some(vec![0xff])).unwrap_err().to_string().contains("not UTF-8"));
        assert_eq!(text("x", Some("\u{feff}print(1)".into())).unwrap(), "print(1)");
    }
}
