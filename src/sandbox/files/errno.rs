//! The error codes of WASI preview 1 that our calls answer with.

/// Why a call failed. The numbers are preview 1's, which are not those of any host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Errno {
    Acces = 2,
    Badf = 8,
    Busy = 10,
    Dquot = 19,
    Exist = 20,
    Fault = 21,
    Fbig = 22,
    Ilseq = 25,
    Inval = 28,
    Io = 29,
    Isdir = 31,
    Loop = 32,
    Mfile = 33,
    Nametoolong = 37,
    Nfile = 41,
    Noent = 44,
    Nospc = 51,
    Notdir = 54,
    Notempty = 55,
    Notsock = 57,
    Overflow = 61,
    Perm = 63,
    Rofs = 69,
    Spipe = 70,
    Xdev = 75,
}

impl Errno {
    /// The number that the guest gets.
    pub fn code(self) -> u16 {
        self as u16
    }
}
