//! The library's folders: listed once, opened once, without links.

use super::*;

fn mounts() -> (tempfile::TempDir, Mounts) {
    let host = tempfile::tempdir().unwrap();
    let mpl = host.path().join("mpl");
    std::fs::create_dir_all(mpl.join("fonts/ttf")).unwrap();
    std::fs::write(mpl.join("fonts/ttf/b.ttf"), "bbb").unwrap();
    std::fs::write(mpl.join("fonts/ttf/a.ttf"), "aa").unwrap();
    std::fs::write(mpl.join("rc"), "0123456789").unwrap();
    let mounts = Mounts::new(host.path().join("absent"), mpl);
    (host, mounts)
}

const ROOT: HostNode = HostNode { source: Source::MplData, index: 0 };

fn find(mounts: &Mounts, path: &str) -> Result<HostNode, Errno> {
    path.split('/').try_fold(ROOT, |at, name| mounts.lookup(at, name))
}

#[test]
fn folders_are_listed_in_order_and_files_have_their_sizes() {
    let (_host, mounts) = mounts();
    let names = |path: HostNode| mounts.list(path).unwrap().iter().map(|e| e.0.to_owned()).collect::<Vec<_>>();
    assert_eq!(names(ROOT), ["fonts", "rc"]);
    let ttf = find(&mounts, "fonts/ttf").unwrap();
    assert_eq!(names(ttf), ["a.ttf", "b.ttf"]);
    let (ino, bytes) = mounts.describe(find(&mounts, "fonts/ttf/b.ttf").unwrap()).unwrap();
    assert_eq!((ino, bytes), (number("/usr/local/lib/python315.zip/matplotlib/mpl-data/fonts/ttf/b.ttf"), 3));
    assert_eq!(mounts.parent(ttf).unwrap(), Some(find(&mounts, "fonts").unwrap()));
    assert_eq!(mounts.parent(ROOT).unwrap(), None);
    assert_eq!(mounts.path(ttf).unwrap(), "/usr/local/lib/python315.zip/matplotlib/mpl-data/fonts/ttf");
    assert_eq!(find(&mounts, "fonts/nothing"), Err(Errno::Noent));
    assert_eq!(find(&mounts, "rc/nothing"), Err(Errno::Notdir));
    assert_eq!(mounts.is_folder(HostNode::root(Source::Lib)), Err(Errno::Io), "the host's folder is not there");
}

#[test]
fn a_file_is_opened_once_and_read_at_positions() {
    let (_host, mounts) = mounts();
    let rc = find(&mounts, "rc").unwrap();
    let (first, second) = (mounts.open(rc).unwrap(), mounts.open(rc).unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    let mut bytes = [0; 4];
    assert_eq!((first.read(8, &mut bytes), &bytes[..2]), (Ok(2), &b"89"[..]));
    assert_eq!((second.read(0, &mut bytes), &bytes), (Ok(4), b"0123"));
    assert_eq!(first.read(u64::from(u32::MAX), &mut bytes), Ok(0));
    assert_eq!(mounts.open(ROOT).unwrap_err(), Errno::Isdir);
    let gone = Arc::downgrade(&first);
    drop((first, second));
    assert!(gone.upgrade().is_none(), "nobody reads it: the host's descriptor is given back");
}

#[test]
fn packages_are_seen_in_the_library_by_those_who_have_them() {
    let host = tempfile::tempdir().unwrap();
    let (lib, folder) = (host.path().join("lib"), host.path().join("site"));
    std::fs::create_dir_all(folder.join("flask")).unwrap();
    std::fs::create_dir(&lib).unwrap();
    std::fs::write(folder.join("flask/app.py"), "app").unwrap();
    for name in ["a", "z"] {
        std::fs::write(lib.join(name), "").unwrap();
    }
    let (plain, packages) = (Mounts::new(lib, host.path().join("mpl")), Packages::new(folder));
    let (with, again) =
        (plain.with(Some(packages.clone()), Grants::default()), plain.with(Some(packages), Grants::default()));
    let root = HostNode::root(Source::Lib);
    let names = |mounts: &Mounts| mounts.list(root).unwrap().iter().map(|e| e.0.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        (names(&plain), names(&with)),
        (vec!["a".into(), "z".into()], vec!["a".into(), "packages".into(), "z".into()])
    );
    assert_eq!(plain.lookup(root, "packages"), Err(Errno::Noent));
    let site = with.lookup(root, "packages").unwrap();
    let app = ["flask", "app.py"].iter().try_fold(site, |at, name| with.lookup(at, name)).unwrap();
    assert_eq!(with.path(app).unwrap(), "/usr/local/lib/packages/flask/app.py");
    assert_eq!((with.parent(site).unwrap(), with.describe(app).unwrap().1), (Some(root), 3));
    assert!(Arc::ptr_eq(&with.open(app).unwrap(), &with.open(app).unwrap()));
    assert_eq!(plain.open(app).unwrap_err(), Errno::Noent, "another session's file is none here");
    assert!(with.is_same(&again) && !with.is_same(&plain));
}

#[cfg(unix)]
#[test]
fn links_are_not_there() {
    let (host, mounts) = mounts();
    std::fs::write(host.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(host.path().join("secret"), host.path().join("mpl/soft")).unwrap();
    std::os::unix::fs::symlink(host.path(), host.path().join("mpl/folder")).unwrap();
    assert_eq!(find(&mounts, "soft"), Err(Errno::Noent));
    assert_eq!(find(&mounts, "folder"), Err(Errno::Noent));
    assert_eq!(mounts.list(ROOT).unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn a_file_that_became_a_link_leads_nowhere() {
    let (host, mounts) = mounts();
    let rc = find(&mounts, "rc").unwrap();
    std::fs::write(host.path().join("secret"), "s").unwrap();
    std::fs::remove_file(host.path().join("mpl/rc")).unwrap();
    std::os::unix::fs::symlink(host.path().join("secret"), host.path().join("mpl/rc")).unwrap();
    assert_eq!(mounts.open(rc).unwrap_err(), Errno::Io);
}
