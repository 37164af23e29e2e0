//! Displays as files: what `--out` writes beside the files of `/work`.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::console::Console;
use crate::sandbox::{MimeBundle, Outcome};
use crate::{Error, Result};

/// Types, the richest first, with the ending of their files and whether a bundle has them in base64.
const TYPES: [(&str, &str, bool); 12] = [
    ("image/png", "png", true),
    ("image/jpeg", "jpg", true),
    ("image/gif", "gif", true),
    ("image/webp", "webp", true),
    ("image/svg+xml", "svg", false),
    ("application/pdf", "pdf", true),
    ("text/html", "html", false),
    ("text/markdown", "md", false),
    ("text/latex", "tex", false),
    ("application/json", "json", false),
    ("application/javascript", "js", false),
    ("text/plain", "txt", false),
];

/// As many files are named on stderr.
const NAMED: usize = 10;

/// Writes what the cells displayed into the folder `out` as `display-1.png`, `display-2.html` and so on, and names the
/// files. `taken` are the files of `/work` that were copied there: none of them is written over. Says whether there were any.
///
/// # Errors
/// What the host's own folder says.
pub fn save<'a>(
    console: &Console,
    out: &Path,
    taken: &[String],
    outcomes: impl IntoIterator<Item = &'a Outcome>,
) -> Result<bool> {
    let mut written = Vec::new();
    for (number, bundle) in outcomes.into_iter().flat_map(|outcome| shown(outcome, is_rich)).enumerate() {
        let Some((ending, content)) = richest(bundle) else { continue };
        let name = free_name(number + 1, ending, taken);
        write(&out.join(&name), &content).map_err(|error| {
            Error::usage(error).context(format!("writing a display to {}", out.join(&name).display()))
        })?;
        written.push(name);
    }
    if !console.json
        && let Some(line) = told(&written, out)
    {
        console.say(&line);
    }
    Ok(!written.is_empty())
}

/// Tells a person at a terminal, in one line, that there is more to see than text, when nobody asked for files.
pub fn hint<'a>(console: &Console, outcomes: impl IntoIterator<Item = &'a Outcome>) {
    if console.err_is_terminal()
        && !console.json
        && let Some(line) = unseen(outcomes)
    {
        console.say(&line);
    }
}

fn unseen<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Option<String> {
    // The terminal shows a table's text; of a picture it shows nothing.
    let rich = outcomes.into_iter().flat_map(|outcome| shown(outcome, is_picture)).filter(|bundle| is_rich(bundle));
    match rich.count() {
        0 => None,
        1 => Some("1 object was displayed that is more than text (--out DIR writes it to a file)".into()),
        many => Some(format!("{many} objects were displayed that are more than text (--out DIR writes them to files)")),
    }
}

/// What a notebook would show of a cell: its displays, and a result if it is `such` a one.
fn shown(outcome: &Outcome, such: fn(&MimeBundle) -> bool) -> impl Iterator<Item = &MimeBundle> {
    outcome.displays.iter().chain(outcome.result.iter().filter(move |bundle| such(bundle)))
}

fn is_rich(bundle: &MimeBundle) -> bool {
    bundle.keys().any(|mime| mime != "text/plain")
}

fn is_picture(bundle: &MimeBundle) -> bool {
    bundle.keys().any(|mime| mime.starts_with("image/"))
}

/// The richest representation: its file's ending and content. One that is not what its type says is passed over.
fn richest(bundle: &MimeBundle) -> Option<(&'static str, Cow<'_, [u8]>)> {
    TYPES.iter().find_map(|&(mime, ending, encoded)| {
        let text = bundle.get(mime)?;
        let content = if encoded { STANDARD.decode(text).ok()?.into() } else { text.as_bytes().into() };
        Some((ending, content))
    })
}

fn free_name(number: usize, ending: &str, taken: &[String]) -> String {
    // Some file systems take names that differ in case for one.
    let is_taken = |name: &str| {
        taken.iter().filter_map(|path| path.split('/').next()).any(|first| first.eq_ignore_ascii_case(name))
    };
    let mut name = format!("display-{number}.{ending}");
    let mut attempt = 2;
    while is_taken(&name) {
        name = format!("display-{number}-{attempt}.{ending}");
        attempt += 1;
    }
    name
}

/// Writes a file in place of one that is there already, and never through a link.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => fs::remove_file(path)?,
        Ok(_) => return Err(io::Error::other("something else than a file is in the way")),
        Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
}

fn told(written: &[String], out: &Path) -> Option<String> {
    let first = written.get(..NAMED.min(written.len())).filter(|first| !first.is_empty())?.join(", ");
    let more = written.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("displayed, in {}: {first}{more}", out.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::samples;
    use crate::sandbox::Status;

    fn bundle(types: &[(&str, &str)]) -> MimeBundle {
        types.iter().map(|(mime, text)| ((*mime).to_owned(), (*text).to_owned())).collect()
    }

    fn saved(outcomes: &[Outcome], taken: &[&str]) -> Vec<(String, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        let taken: Vec<_> = taken.iter().map(|&name| name.to_owned()).collect();
        for name in &taken {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), "the guest's").unwrap();
        }
        save(&Console::before_settings(true), folder.path(), &taken, outcomes).unwrap();
        let mut files: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_file() && fs::read(entry.path()).unwrap() != b"the guest's")
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    }

    #[test]
    fn each_display_is_a_file_of_its_richest_type() {
        let mut cell = samples::outcome(Status::Ok);
        cell.displays = vec![
            bundle(&[("text/plain", "<Figure>"), ("text/html", "<b>"), ("image/png", "AAEC")]),
            bundle(&[("text/plain", "t"), ("text/latex", "$x$"), ("text/html", "<i>")]),
            bundle(&[("text/plain", "only")]),
            bundle(&[("x/y", "?")]),
            bundle(&[("image/png", "not base64"), ("image/svg+xml", "<svg/>")]),
        ];
        cell.result = Some(bundle(&[("text/plain", "df"), ("text/html", "<table>")]));
        let mut next = samples::outcome(Status::Error);
        next.result = Some(bundle(&[("text/plain", "image"), ("image/jpeg", "/9j/")]));
        let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let files = saved(&[cell, next], &[]);
        assert_eq!(
            names(&files),
            ["display-1.png", "display-2.html", "display-3.txt", "display-5.svg", "display-6.html", "display-7.jpg"],
            "a result is written when it is more than text"
        );
        assert_eq!(
            (&files[0].1[..], &files[1].1[..], &files[5].1[..]),
            (&[0, 1, 2][..], &b"<i>"[..], &b"\xff\xd8\xff"[..])
        );
    }

    #[test]
    fn a_file_of_the_guests_is_never_written_over() {
        let mut cell = samples::outcome(Status::Ok);
        cell.displays = vec![bundle(&[("image/png", "AAEC")]), bundle(&[("text/html", "x")])];
        let files = saved(&[cell], &["Display-1.PNG", "display-1-2.png", "display-2.html/inside"]);
        assert_eq!(
            files.iter().map(|(name, _)| &name[..]).collect::<Vec<_>>(),
            ["display-1-3.png", "display-2-2.html"]
        );
    }

    #[test]
    fn what_an_earlier_run_wrote_is_replaced_and_anything_else_is_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("display-1.txt");
        write(&path, b"longer before").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::create_dir(folder.path().join("folder")).unwrap();
        assert!(write(&folder.path().join("folder"), b"").unwrap_err().to_string().contains("in the way"));
        #[cfg(unix)]
        {
            let (target, link) = (folder.path().join("target"), folder.path().join("link"));
            std::os::unix::fs::symlink(&target, &link).unwrap();
            assert!(write(&link, b"x").is_err() && !target.exists());
        }
    }

    #[test]
    fn who_asked_for_no_files_is_told_once_what_there_is() {
        let mut cell = samples::outcome(Status::Ok);
        cell.displays = vec![bundle(&[("text/plain", "1")])];
        assert_eq!(unseen([&cell, &cell]), None);
        cell.displays.push(bundle(&[("text/plain", "<Figure>"), ("image/png", "AAEC")]));
        assert!(unseen([&cell]).unwrap().starts_with("1 object was displayed"));
        assert!(unseen([&cell, &cell]).unwrap().starts_with("2 objects were displayed"));
    }

    #[test]
    fn the_files_are_named_in_one_line() {
        let names: Vec<_> = (1..=12).map(|number| format!("display-{number}.png")).collect();
        assert_eq!(told(&names[..2], Path::new("r")).unwrap(), "displayed, in r: display-1.png, display-2.png");
        assert!(told(&names, Path::new("r")).unwrap().ends_with("display-10.png and 2 more"));
        assert_eq!(told(&[], Path::new("r")), None);
    }
}
