//! The error codes of WASI preview 1 that our calls answer with.

/// Why a call failed. The numbers are preview 1's, which are not those of any host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Errno {
    Badf = 8,
    Dquot = 19,
    Exist = 20,
    Fault = 21,
    Fbig = 22,
    Ilseq = 25,
    Inval = 28,
    Io = 29,
    Isdir = 31,
    Mfile = 33,
    Nametoolong = 37,
    Nfile = 41,
    Noent = 44,
    Nospc = 51,
    Nosys = 52,
    Notdir = 54,
    Notempty = 55,
    Notsock = 57,
    Notsup = 58,
    Overflow = 61,
    Perm = 63,
    Rofs = 69,
    Spipe = 70,
    Notcapable = 76,
}

impl Errno {
    /// The number that the guest gets.
    pub fn code(self) -> u16 {
        self as u16
    }
}
