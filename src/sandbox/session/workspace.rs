//! A session's `/work`, as its host uses it between two cells.

use std::path::Path;

use super::super::scratch::{FileEntry, look};
use super::Session;
use crate::Result;

/// Files go in and come out between two cells. Paths are relative to `/work`; one that is absolute or has `.` or `..` in
/// it is refused.
///
/// ```no_run
/// # use slm_code_interpreter::{Cancel, Session};
/// # fn example(session: &mut Session) -> slm_code_interpreter::Result<()> {
/// session.put("data/prices.csv", b"item,price\ntea,3\n")?;
/// session.exec("open('data/total.txt', 'w').write('3')", &Cancel::new())?;
/// assert_eq!(session.get("data/total.txt")?, b"3");
/// let files = session.list();
/// assert_eq!(files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["data/prices.csv", "data/total.txt"]);
/// session.remove("data")
/// # }
/// ```
impl Session {
    /// Copies a host file into `/work` under its own name, or a folder with all that is in it. Links in the folder are left
    /// out, and so is whatever is no file or folder.
    ///
    /// # Errors
    /// What cannot be read, a name that is taken, and what does not fit into the limits. Then nothing is copied.
    pub fn put_file(&mut self, host: &Path) -> Result<()> {
        self.limit_files();
        let world = self.body.world_mut();
        let now = world.clock.wall(0);
        let put = self.scratch.put_host(world.files.tree_mut(), host, now);
        self.charge_files();
        put
    }

    /// Writes a file, in the place of the one that was there; folders on the way to it are made. As with
    /// [`put_file`](Self::put_file), it is no result unless a cell changes it.
    ///
    /// # Errors
    /// A path that is none, a folder where the file would have to be, and what does not fit into the limits. Then nothing
    /// is written.
    pub fn put(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.limit_files();
        let world = self.body.world_mut();
        let now = world.clock.wall(0);
        let put = self.scratch.put_bytes(world.files.tree_mut(), path, bytes, now);
        self.charge_files();
        put
    }

    /// What a file holds: at most what the limit `scratch` allows.
    ///
    /// # Errors
    /// A path that is none, or of no file.
    pub fn get(&self, path: &str) -> Result<Vec<u8>> {
        look::get(self.tree(), path)
    }

    /// Every file, sorted by path: at most as many as the limit `entries` allows, each with its whole path.
    pub fn list(&self) -> Vec<FileEntry> {
        look::list(self.tree())
    }

    /// Removes a file, or a folder with all that is in it. What a program has open it can go on using.
    ///
    /// # Errors
    /// A path that is none, or of nothing that is there.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        let world = self.body.world_mut();
        let now = world.clock.wall(0);
        let removed = look::remove(world.files.tree_mut(), path, now);
        self.charge_files();
        removed
    }

    /// Copies every file of `/work` that cells created or modified into the host folder `to`, and names it. A file of the
    /// same name there is replaced when the new one is whole; nothing is written through links.
    ///
    /// # Errors
    /// What the host says of the first that could not be copied; the others are.
    pub fn export(&self, to: &Path) -> Result<Vec<String>> {
        self.scratch.export(self.tree(), to)
    }
}
