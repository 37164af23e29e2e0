use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::place::Token;
use super::server::{Act, COMMIT, Seen, Server, sha256};
use super::*;

const REPO: &str = "org/name";
const FILE: &str = "x-q8_0.gguf";
/// As long as a busy machine may take for what comes; who tests what does not come says less.
const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(60),
    silence: Duration::from_secs(60),
    answer: Duration::from_secs(60),
    tries: 3,
    pause: Duration::ZERO,
};

/// Bytes that no part of is like another, three megabytes and a bit.
fn content() -> Vec<u8> {
    (0_u32..800_000).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

struct Bench {
    folder: tempfile::TempDir,
    server: Server,
    content: Vec<u8>,
    notes: Arc<Mutex<Vec<String>>>,
    patience: Patience,
}

impl Bench {
    fn new(decide: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::serving(&[(FILE, &content()), ("README.md", b"read me")], decide)
    }

    fn serving(files: &[(&str, &[u8])], decide: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ours")).unwrap();
        let server = Server::start(REPO, files, decide);
        Self { folder, server, content: files[0].1.to_vec(), notes: Arc::default(), patience: PATIENCE }
    }

    fn hub_at(&self, endpoint: &str, offline: bool) -> Hub {
        self.hub_behind(Proxies::of(&|_| None), endpoint, "hf_secret", offline)
    }

    fn hub_behind(&self, proxies: Proxies, endpoint: &str, token: &str, offline: bool) -> Hub {
        let place = Place {
            endpoint: endpoint.into(),
            token: Some(Token { text: token.into(), from: "HF_TOKEN".into() }),
            cache: self.folder.path().join("hub"),
            offline: false,
        };
        Hub::with(place, proxies, self.patience, Notes::of(&self.folder.path().join("ours")), offline)
    }

    /// Where the content lies, as every tool's cache has it.
    fn blob(&self) -> PathBuf {
        self.folder.path().join("hub/models--org--name/blobs").join(sha256(&self.content))
    }

    /// Something else of the same size.
    fn spoil(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, vec![7; self.content.len()]).unwrap();
    }

    fn hub(&self) -> Hub {
        self.hub_at(&self.server.url(), false)
    }

    fn fetch_as(&self, hub: &Hub, name: &str, cancel: &Cancel) -> Result<PathBuf> {
        let told = self.notes.clone();
        let progress = Progress::new(move |step| {
            if let Step::Note { text } = step {
                told.lock().unwrap().push(text.to_owned());
            }
        });
        let plan = hub.plan(&HubName::parse(name).unwrap(), &progress, cancel)?;
        hub.fetch(&plan, &progress, cancel)
    }

    fn fetch(&self) -> Result<PathBuf> {
        self.fetch_as(&self.hub(), &format!("{REPO}:{FILE}"), &Cancel::new())
    }

    #[track_caller]
    fn arrives(&self) {
        let folder = self.fetch().unwrap();
        assert!(std::fs::read(folder.join(FILE)).unwrap() == self.content, "another content");
        assert_eq!(self.parts(), Vec::<String>::new(), "nothing half is left");
    }

    #[track_caller]
    fn fails(&self) -> (String, String) {
        let error = self.fetch().unwrap_err();
        assert!(error.is_unavailable(), "{error:?}");
        assert_eq!(
            self.hub().known(&HubName::parse(&format!("{REPO}:{FILE}")).unwrap()).filter(|plan| self.hub().has(plan)),
            None
        );
        (error.to_string(), error.advice().unwrap().to_owned())
    }

    /// What is left of transfers that did not end well.
    fn parts(&self) -> Vec<String> {
        let blobs = std::fs::read_dir(self.folder.path().join("hub/models--org--name/blobs"));
        let names = blobs.into_iter().flatten().flatten().map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".incomplete")).collect()
    }

    fn told(&self) -> String {
        self.notes.lock().unwrap().join("\n")
    }
}

#[test]
fn a_file_lies_where_every_tool_finds_it() {
    let bench = Bench::new(|_| Act::Serve);
    bench.arrives();
    let repo = bench.folder.path().join("hub/models--org--name");
    assert_eq!(std::fs::read_to_string(repo.join("refs/main")).unwrap(), COMMIT);
    assert!(repo.join("blobs").join(sha256(&bench.content)).is_file());
    assert_eq!(sha256_of(&repo.join("snapshots").join(COMMIT).join(FILE)), Some(sha256(&bench.content)));
    assert_eq!(bench.server.starts(), [0]);
    // It is not asked again.
    let before = bench.server.seen().len();
    bench.arrives();
    assert_eq!(bench.server.seen().len(), before);
    assert_eq!(bench.told(), "");
}

#[test]
fn a_repository_alone_is_its_best_file_and_is_remembered() {
    let bench = Bench::new(|_| Act::Serve);
    let name = HubName::parse(REPO).unwrap();
    let hub = bench.hub();
    assert_eq!(hub.known(&name), None);
    let folder = bench.fetch_as(&hub, REPO, &Cancel::new()).unwrap();
    assert!(folder.join(FILE).is_file() && !folder.join("README.md").exists());
    let plan = hub.known(&name).unwrap();
    assert_eq!(plan.gguf(), Some((FILE, Some(sha256(&bench.content).as_str()))));
    // What is known outlives the file: what was built from it is found by its digest.
    std::fs::remove_dir_all(bench.folder.path().join("hub")).unwrap();
    assert_eq!(hub.known(&name).unwrap().gguf(), plan.gguf());
    assert!(!hub.has(&plan));
}

#[test]
fn onnx_models_come_with_all_that_belongs_to_them() {
    let files: [(&str, &[u8]); 5] = [
        ("onnx/model_q4.onnx", b"graph"),
        ("onnx/model_q4.onnx_data", b"weights"),
        ("config.json", b"{}"),
        ("tokenizer.json", b""),
        ("onnx/model.onnx", b"another"),
    ];
    let bench = Bench::serving(&files, |_| Act::Serve);
    let folder = bench.fetch_as(&bench.hub(), REPO, &Cancel::new()).unwrap();
    for (name, bytes) in &files[..4] {
        assert_eq!(std::fs::read(folder.join(name)).unwrap(), *bytes, "{name}");
    }
    assert!(!folder.join(files[4].0).exists());
    let seen = bench.server.seen();
    assert!(seen[1..].iter().all(|seen| seen.path.contains(COMMIT)), "all of one commit: {seen:?}");
}

#[test]
fn a_cut_transfer_goes_on_where_it_was() {
    let bench = Bench::new(|seen| if seen.is_file() && seen.before < 2 { Act::Cut(1_000_000) } else { Act::Serve });
    bench.arrives();
    assert_eq!(bench.server.starts(), [0, 1_000_000, 2_000_000]);
    assert!(bench.told().contains("trying again (2 of 3)"), "{}", bench.told());
}

#[test]
fn what_came_is_kept_for_the_next_time() {
    let bench = Bench::new(|seen| if seen.is_file() && seen.before < 3 { Act::Cut(1000) } else { Act::Serve });
    let (what, advice) = bench.fails();
    assert!(what.contains("cut") && advice.contains("goes on from there"), "{what} {advice}");
    assert_eq!(bench.parts(), [format!("{}.incomplete", sha256(&bench.content))]);
    bench.arrives();
    assert_eq!(bench.server.starts(), [0, 1000, 2000, 3000]);
}

#[test]
fn a_cut_for_ever_ends() {
    let bench = Bench::new(|seen| if seen.is_file() { Act::Cut(0) } else { Act::Serve });
    assert!(bench.fails().0.contains("cut"));
    assert_eq!(bench.server.starts(), [0, 0, 0]);
}

#[test]
fn as_long_as_much_comes_it_is_not_given_up() {
    let bench =
        Bench::new(|seen| if seen.is_file() && seen.start() < 2_200_000 { Act::Cut(1_100_000) } else { Act::Serve });
    let more =
        Bench::new(|seen| if seen.is_file() && seen.start() < 3_000_000 { Act::Cut(1_050_000) } else { Act::Serve });
    bench.arrives();
    more.arrives();
    assert_eq!(more.server.starts().len(), 4, "one attempt more than the three that bring nothing");
}

#[test]
fn a_server_that_cannot_go_on_begins_again() {
    let bench = Bench::new(|seen| match seen.before {
        0 if seen.is_file() => Act::Cut(1_000_000),
        _ if seen.is_file() => Act::Whole,
        _ => Act::Serve,
    });
    bench.arrives();
    assert_eq!(bench.server.starts(), [0, 1_000_000]);
}

#[test]
fn an_earlier_half_that_is_no_beginning_is_noticed() {
    let bench = Bench::new(|_| Act::Serve);
    let blobs = bench.folder.path().join("hub/models--org--name/blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(format!("{}.incomplete", sha256(&bench.content)));
    std::fs::write(&part, "something else").unwrap();
    assert!(bench.fails().0.contains("not what was announced"));
    assert!(!part.exists());
    bench.arrives();
    // Longer than it can be.
    let other = Bench::new(|_| Act::Serve);
    let blobs = other.folder.path().join("hub/models--org--name/blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    std::fs::write(blobs.join(format!("{}.incomplete", sha256(&other.content))), [&other.content[..], b"x"].concat())
        .unwrap();
    other.arrives();
}

#[test]
fn another_content_than_announced_is_removed() {
    let swapped = || Act::Swapped(content().into_iter().rev().collect());
    let bench = Bench::new(move |seen| if seen.is_file() && seen.before == 0 { swapped() } else { Act::Serve });
    let (what, advice) = bench.fails();
    assert!(what.contains("not what was announced") && advice.contains("removed"), "{what} {advice}");
    assert_eq!(bench.parts(), Vec::<String>::new());
    bench.arrives();
}

#[test]
fn another_size_than_announced_is_refused() {
    let longer = Bench::new(|seen| if seen.is_facts() { Act::Sized(4_000_000) } else { Act::Serve });
    assert!(longer.fails().0.contains("is not the file that was announced"));
    let shorter = Bench::new(|seen| if seen.is_facts() { Act::Sized(5) } else { Act::Serve });
    assert!(shorter.fails().0.contains("is not the file that was announced"));
    let endless = Bench::new(|seen| if seen.is_facts() { Act::Sized(u64::MAX) } else { Act::Serve });
    assert!(endless.fails().0.contains("how large"));
    let other = Bench::new(|seen| if seen.is_file() { Act::Swapped(vec![7; 5_000_000]) } else { Act::Serve });
    assert!(other.fails().0.contains("is not the file that was announced"));
}

#[test]
fn refusals_are_told_and_not_repeated() {
    let refuse = |code, reason: &'static str| {
        let bench = Bench::new(move |_| Act::Status(code, vec![("X-Error-Code", reason.into())]));
        let (what, advice) = bench.fails();
        assert!(bench.server.seen().len() <= 2, "{:?}", bench.server.seen());
        assert!(what.starts_with("the model org/name from the hub: "), "{what}");
        format!("{what}; {advice}")
    };
    assert!(refuse(401, "GatedRepo").contains("accept the licence on http://127.0.0.1:"));
    assert!(refuse(403, "").contains("accept the licence"));
    assert!(refuse(401, "").contains("the token may not see it"));
    assert!(refuse(404, "RepoNotFound").contains("no such model (404)"));
}

#[test]
fn a_file_that_is_not_there_tells_those_that_are() {
    let bench = Bench::new(|_| Act::Serve);
    let error = bench.fetch_as(&bench.hub(), "org/name:other.gguf", &Cancel::new()).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("no file `other.gguf`"), "{error}");
    assert_eq!(error.advice(), Some("there are `x-q8_0.gguf`"));
    let error = bench.fetch_as(&bench.hub(), "org/other", &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("no such model (404)"), "{error}");
}

#[test]
fn what_passes_is_tried_again() {
    let busy = Bench::new(|seen| match seen.before {
        0 => Act::Status(429, vec![("Retry-After", "0".into())]),
        1 => Act::Status(503, Vec::new()),
        _ => Act::Serve,
    });
    busy.arrives();
    assert!(busy.told().contains("asked too often") && busy.told().contains("answered 503"), "{}", busy.told());
    let down = Bench::new(|_| Act::Status(500, Vec::new()));
    assert!(down.fails().0.contains("answered 500"));
    assert_eq!(down.server.seen().len(), 3);
}

#[test]
fn silence_ends() {
    let patience = Patience { silence: Duration::from_millis(500), ..PATIENCE };
    let mut mute = Bench::new(|_| Act::Silent);
    mute.patience = patience;
    assert!(mute.fails().0.contains("stopped answering"));
    let mut stalls = Bench::new(|seen| if seen.is_file() && seen.before == 0 { Act::Stall(1000) } else { Act::Serve });
    stalls.patience = patience;
    stalls.arrives();
    assert_eq!(stalls.server.starts(), [0, 1000]);
}

#[test]
fn nobody_there_is_told_at_once() {
    let bench = Bench::new(|_| Act::Serve);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hub = bench.hub_at(&format!("http://{free}"), false);
    let error = bench.fetch_as(&hub, REPO, &Cancel::new()).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("cannot be reached"), "{error}");
    assert!(error.advice().unwrap().contains("HTTPS_PROXY"), "{error:?}");
    assert_eq!(bench.told(), "");
    // Who speaks no TLS where it is expected.
    let hub = bench.hub_at(&bench.server.url().replace("http:", "https:"), false);
    let error = bench.fetch_as(&hub, REPO, &Cancel::new()).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("no secure connection"), "{error}");
    assert_eq!(bench.told(), "", "nothing of this passes");
}

/// The same file from another address, as large files come; its server notes what it is sent.
#[test]
fn the_token_goes_to_the_hub_alone() {
    let store = Server::start(REPO, &[(FILE, &content())], |_| Act::Serve);
    // `localhost` and 127.0.0.1 are two hosts to who looks at names.
    let elsewhere = format!("{}/{REPO}/resolve/x/{FILE}?signature=1", store.url());
    let elsewhere = elsewhere.replace("?signature=1", "");
    let bench = Bench::new(
        move |seen| if seen.path.contains("/resolve/") { Act::Redirect(elsewhere.clone()) } else { Act::Serve },
    );
    bench.arrives();
    assert!(bench.server.seen().iter().all(|seen| seen.authorization.as_deref() == Some("Bearer hf_secret")));
    let there = store.seen();
    assert!(there.len() == 1 && there.iter().all(|seen| seen.authorization.is_none()), "{there:?}");
}

#[test]
fn redirects_end() {
    let bench = Bench::new(|seen| match seen.is_file() {
        true => Act::Redirect(seen.path.clone()),
        false => Act::Serve,
    });
    assert!(bench.fails().0.contains("sends us on more than"));
    assert!(bench.server.starts().len() < 12);
    let away = Bench::new(|seen| if seen.is_file() { Act::Redirect("file:///etc/passwd".into()) } else { Act::Serve });
    assert!(away.fails().0.contains("a place that is none"));
}

#[test]
fn names_that_lead_elsewhere_are_never_asked_for() {
    let files: [(&str, &[u8]); 3] =
        [("../../../x-q8_0.gguf", b"evil"), ("/abs-q8_0.gguf", b"evil"), ("m-q4_0.gguf", b"good")];
    let bench = Bench::serving(&files, |_| Act::Serve);
    let folder = bench.fetch_as(&bench.hub(), REPO, &Cancel::new()).unwrap();
    assert_eq!(std::fs::read(folder.join("m-q4_0.gguf")).unwrap(), b"good");
    assert!(bench.server.seen().iter().all(|seen| !seen.path.contains("..") && !seen.path.contains("abs")));
}

#[test]
fn headers_that_lead_elsewhere_are_refused() {
    for (name, value) in [("X-Repo-Commit", "../../x"), ("X-Linked-Etag", "\"../../x\""), ("X-Linked-Size", "-1")] {
        let bench = Bench::new(move |_| {
            let good = [("X-Repo-Commit", "c0"), ("X-Linked-Etag", "\"tag\""), ("X-Linked-Size", "5")];
            let headers = good.map(|(known, good)| (known, if known == name { value } else { good }.to_owned()));
            Act::Status(200, headers.to_vec())
        });
        assert!(bench.fails().0.contains("the hub does not say"), "{name}");
    }
}

#[test]
fn offline_uses_what_is_here_and_asks_nobody() {
    let bench = Bench::new(|_| Act::Serve);
    let offline = bench.hub_at(&bench.server.url(), true);
    for name in [REPO.to_owned(), format!("{REPO}:{FILE}")] {
        let error = bench.fetch_as(&offline, &name, &Cancel::new()).unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains("offline"), "{error}");
        assert!(error.advice().unwrap().contains(&format!("setup --model {name}")), "{error:?}");
    }
    assert_eq!(bench.server.seen(), []);
    bench.arrives();
    let before = bench.server.seen().len();
    for name in [REPO.to_owned(), format!("{REPO}:{FILE}"), format!("{REPO}@{COMMIT}"), format!("{REPO}:Q8_0")] {
        let folder = bench.fetch_as(&offline, &name, &Cancel::new()).unwrap();
        assert!(folder.join(FILE).is_file(), "{name}");
    }
    assert_eq!(bench.server.seen().len(), before);
}

#[test]
fn what_is_here_is_used_when_the_hub_is_away() {
    let bench = Bench::new(|_| Act::Serve);
    bench.arrives();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hub = bench.hub_at(&format!("http://{free}"), false);
    assert!(bench.fetch_as(&hub, REPO, &Cancel::new()).unwrap().join(FILE).is_file());
    assert!(bench.told().contains("what is here of org/name is used"), "{}", bench.told());
}

#[test]
fn a_cancel_ends_a_transfer_and_what_came_is_kept() {
    let cancel = Cancel::new();
    let (stop, held) = (cancel.clone(), Arc::new(Mutex::new(0)));
    let bench = Bench::new(|seen| if seen.is_file() && seen.before == 0 { Act::Stall(1_000_000) } else { Act::Serve });
    let hub = bench.hub();
    let plan = hub.plan(&HubName::parse(REPO).unwrap(), &Progress::default(), &cancel).unwrap();
    let count = held.clone();
    let progress = Progress::new(move |step| {
        if let Step::Advance { done } = step {
            *count.lock().unwrap() = done;
            if done == 1_000_000 {
                stop.cancel();
            }
        }
    });
    assert!(hub.fetch(&plan, &progress, &cancel).unwrap_err().is_cancelled());
    assert_eq!(*held.lock().unwrap(), 1_000_000);
    bench.arrives();
    assert_eq!(bench.server.starts(), [0, 1_000_000]);
}

/// The request waits for an answer that never comes, for longer than any test.
#[test]
fn a_cancel_ends_a_wait() {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let mut bench = Bench::new(move |_| {
        stop.cancel();
        Act::Silent
    });
    bench.patience = Patience { silence: Duration::from_secs(3600), answer: Duration::from_secs(3600), ..PATIENCE };
    assert!(bench.fetch_as(&bench.hub(), REPO, &cancel).unwrap_err().is_cancelled());
}

#[test]
fn two_at_once_fetch_one_file() {
    let bench = Bench::new(|_| Act::Serve);
    std::thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| bench.fetch().unwrap()));
        for one in both {
            assert!(std::fs::read(one.join().unwrap().join(FILE)).unwrap() == bench.content);
        }
    });
    assert_eq!(bench.server.starts(), [0]);
}

#[test]
fn names_are_written_as_addresses_have_them() {
    assert_eq!(encoded("a b/ü#?%.gguf"), "a%20b/%C3%BC%23%3F%25.gguf");
    let bench = Bench::serving(&[("a b.gguf", b"GGUF")], |_| Act::Serve);
    assert!(bench.fetch_as(&bench.hub(), REPO, &Cancel::new()).unwrap().join("a b.gguf").is_file());
}

#[test]
fn a_blob_that_was_there_is_looked_at_before_it_is_trusted() {
    let bench = Bench::new(|_| Act::Serve);
    bench.spoil(&bench.blob());
    bench.arrives();
    assert!(bench.told().contains("fetched again"), "{}", bench.told());
    assert_eq!(bench.server.starts(), [0]);
    // The right one is used.
    let bench = Bench::new(|_| Act::Serve);
    std::fs::create_dir_all(bench.blob().parent().unwrap()).unwrap();
    std::fs::write(bench.blob(), &bench.content).unwrap();
    bench.arrives();
    assert_eq!((bench.server.starts(), bench.told()), (Vec::new(), String::new()));
}

#[test]
fn files_that_lie_in_their_place_are_looked_at_too() {
    let files: [(&str, &[u8]); 2] = [("model.onnx", b"graph"), ("config.json", b"{}")];
    for (file, served) in [(FILE, vec![(FILE, &b"weights"[..])]), ("model.onnx", files.to_vec())] {
        let bench = Bench::serving(&served, |_| Act::Serve);
        let fetch = |hub: &Hub| bench.fetch_as(hub, REPO, &Cancel::new());
        let place = fetch(&bench.hub()).unwrap().join(file);
        bench.spoil(&bench.blob());
        let error = fetch(&bench.hub_at(&bench.server.url(), true)).unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains("not what its SHA-256 says"), "{error}");
        fetch(&bench.hub()).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), bench.content, "{file}");
        assert!(bench.told().contains("fetched again"), "{}", bench.told());
        // The file itself where a link should be.
        std::fs::remove_file(&place).unwrap();
        bench.spoil(&place);
        fetch(&bench.hub()).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), bench.content, "{file}");
    }
}

#[test]
fn what_was_looked_at_is_not_read_again() {
    let bench = Bench::new(|_| Act::Serve);
    bench.arrives();
    let read = Arc::new(Mutex::new(false));
    let told = read.clone();
    let progress = Progress::new(move |step| *told.lock().unwrap() |= matches!(step, Step::Advance { .. }));
    let plan = bench.hub().plan(&HubName::parse(REPO).unwrap(), &progress, &Cancel::new()).unwrap();
    bench.hub().fetch(&plan, &progress, &Cancel::new()).unwrap();
    assert!(!*read.lock().unwrap());
}

#[test]
fn a_file_that_was_cut_in_its_place_is_fetched_again() {
    let bench = Bench::new(|_| Act::Serve);
    let place = bench.folder.path().join("hub/models--org--name/snapshots").join(COMMIT).join(FILE);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "half").unwrap();
    bench.arrives();
    bench.arrives();
    assert_eq!(bench.server.starts(), [0]);
}

/// A proxy of the tests' own: it leads every connection to `to`, and tells where each should have gone.
fn proxy(to: &str) -> (String, Arc<Mutex<Vec<String>>>) {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (to, asked) = (to.trim_start_matches("http://").to_owned(), Arc::new(Mutex::new(Vec::new())));
    let log = asked.clone();
    std::thread::spawn(move || {
        for near in listener.incoming() {
            let (mut near, mut head) = (near.unwrap(), Vec::new());
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                near.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            log.lock().unwrap().push(head.split(' ').take(2).collect::<Vec<_>>().join(" "));
            let far = TcpStream::connect(&to).unwrap();
            near.write_all(b"HTTP/1.1 200 Go\r\n\r\n").unwrap();
            for (mut from, mut to) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                std::thread::spawn(move || {
                    // Whoever leaves ends both ways.
                    drop(std::io::copy(&mut from, &mut to));
                    drop(to.shutdown(Shutdown::Write));
                });
            }
        }
    });
    (address, asked)
}

#[test]
fn each_hop_takes_its_own_way_and_no_token_goes_in_the_open() {
    let store = Server::start(REPO, &[(FILE, &content())], |_| Act::Serve);
    let elsewhere = format!("{}/{REPO}/resolve/x/{FILE}", store.url());
    let bench = Bench::new(
        move |seen| if seen.path.contains("/resolve/") { Act::Redirect(elsewhere.clone()) } else { Act::Serve },
    );
    let (address, asked) = proxy(&bench.server.url());
    // What serves another scheme is not obeyed, however it is ordered.
    let variables = move |name: &str| match name {
        "HTTP_PROXY" => Some(format!("http://{address}")),
        "HTTPS_PROXY" => Some("socks5://nowhere:1".into()),
        _ => None,
    };
    let hub = bench.hub_behind(Proxies::of(&variables), "http://hub.example", "hf_secret", false);
    let folder = bench.fetch_as(&hub, REPO, &Cancel::new()).unwrap();
    assert!(std::fs::read(folder.join(FILE)).unwrap() == bench.content);
    let asked = asked.lock().unwrap().clone();
    assert!(!asked.is_empty() && asked.iter().all(|line| line == "CONNECT hub.example:80"), "{asked:?}");
    assert_eq!(store.starts(), [0], "this machine is reached directly");
    assert!(bench.server.seen().iter().all(|seen| seen.authorization.is_none()), "{:?}", bench.server.seen());
    let told = bench.told();
    assert_eq!(told.matches("HF_TOKEN is not sent to http://hub.example").count(), 1, "{told}");
    assert!(!told.contains("hf_secret"), "{told}");
}

#[test]
fn a_token_that_is_none_is_named_and_not_shown() {
    let bench = Bench::new(|_| Act::Serve);
    let hub = bench.hub_behind(Proxies::of(&|_| None), &bench.server.url(), "hf_sec\nret", false);
    let error = bench.fetch_as(&hub, REPO, &Cancel::new()).unwrap_err();
    let text = format!("{error:?}");
    assert!(error.is_usage() && text.contains("HF_TOKEN") && !text.contains("hf_sec"), "{text}");
    assert_eq!(bench.server.seen(), []);
}

#[test]
fn a_hub_that_sends_on_slowly_is_not_waited_for_at_every_hop() {
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let mut bench = Bench::new(move |seen| {
        // Slow enough that two are too many, until the test is over.
        let _ = gate.lock().unwrap().recv_timeout(Duration::from_millis(600));
        Act::Status(302, vec![("Location", seen.path.clone())])
    });
    bench.patience = Patience { answer: Duration::from_secs(1), tries: 1, ..PATIENCE };
    let name = HubName::parse(REPO).unwrap();
    let error = bench.hub().answers(&name, &Cancel::new()).unwrap_err();
    drop(release);
    assert!(error.to_string().contains("stopped answering"), "{error}");
    assert!(bench.server.seen().len() <= 2, "{:?}", bench.server.seen());
}
