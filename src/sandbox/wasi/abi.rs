//! The guest's memory as the calls see it, and preview 1's records. Nothing a guest passes is trusted: an address that
//! does not hold is FAULT, a length is compared before it is used, and nothing is copied to look at it.

use crate::sandbox::files::errno::Errno;
use crate::sandbox::files::tree::MAX_PATH;
use crate::sandbox::files::{Fdstat, Filestat};

/// Buffers that one call may name, as IOV_MAX elsewhere.
const MAX_BUFFERS: u32 = 1024;

/// All of a guest's linear memory.
pub(super) struct Memory<'a>(pub(super) &'a mut [u8]);

impl Memory<'_> {
    pub(super) fn bytes(&self, at: u32, len: u32) -> Result<&[u8], Errno> {
        let end = at.checked_add(len).ok_or(Errno::Fault)?;
        self.0.get(at as usize..end as usize).ok_or(Errno::Fault)
    }

    pub(super) fn bytes_mut(&mut self, at: u32, len: u32) -> Result<&mut [u8], Errno> {
        let end = at.checked_add(len).ok_or(Errno::Fault)?;
        self.0.get_mut(at as usize..end as usize).ok_or(Errno::Fault)
    }

    pub(super) fn read<const N: usize>(&self, at: u32) -> Result<[u8; N], Errno> {
        let rest = self.0.get(at as usize..).ok_or(Errno::Fault)?;
        rest.first_chunk().copied().ok_or(Errno::Fault)
    }

    pub(super) fn write<const N: usize>(&mut self, at: u32, record: &[u8; N]) -> Result<(), Errno> {
        let rest = self.0.get_mut(at as usize..).ok_or(Errno::Fault)?;
        *rest.first_chunk_mut().ok_or(Errno::Fault)? = *record;
        Ok(())
    }

    pub(super) fn write_u32(&mut self, at: u32, value: u32) -> Result<(), Errno> {
        self.write(at, &value.to_le_bytes())
    }

    pub(super) fn write_u64(&mut self, at: u32, value: u64) -> Result<(), Errno> {
        self.write(at, &value.to_le_bytes())
    }

    /// # Errors
    /// NAMETOOLONG, and ILSEQ for what is not UTF-8.
    pub(super) fn path(&self, at: u32, len: u32) -> Result<&str, Errno> {
        if len as usize > MAX_PATH {
            return Err(Errno::Nametoolong);
        }
        std::str::from_utf8(self.bytes(at, len)?).map_err(|_| Errno::Ilseq)
    }

    /// The buffers that `count` records at `at` name.
    ///
    /// # Errors
    /// INVAL for more than [`MAX_BUFFERS`] or 4 GiB, FAULT when one of them does not lie in memory.
    pub(super) fn buffers(&self, at: u32, count: u32) -> Result<Buffers, Errno> {
        if count > MAX_BUFFERS {
            return Err(Errno::Inval);
        }
        let buffers = Buffers { at, count };
        let mut total = 0_u32;
        for index in 0..count {
            let (at, len) = buffers.get(self, index)?;
            self.bytes(at, len)?;
            total = total.checked_add(len).ok_or(Errno::Inval)?;
        }
        Ok(buffers)
    }
}

/// The place of the `index`th record of a row.
///
/// # Errors
/// FAULT beyond 4 GiB.
pub(super) fn nth(at: u32, index: u32, size: u32) -> Result<u32, Errno> {
    index.checked_mul(size).and_then(|offset| at.checked_add(offset)).ok_or(Errno::Fault)
}

/// A row of records that name buffers. It lies in the guest's memory, which a read may overwrite, so a record is looked
/// at when it is used.
#[derive(Clone, Copy)]
pub(super) struct Buffers {
    at: u32,
    pub(super) count: u32,
}

impl Buffers {
    /// Address and length of one.
    pub(super) fn get(self, memory: &Memory<'_>, index: u32) -> Result<(u32, u32), Errno> {
        let [a, b, c, d, e, f, g, h] = memory.read(nth(self.at, index, 8)?)?;
        Ok((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])))
    }
}

/// Fills a record field by field, with zeros between.
struct Record<const N: usize>([u8; N]);

impl<const N: usize> Record<N> {
    fn put<const M: usize>(mut self, at: usize, field: [u8; M]) -> Self {
        self.0[at..at + M].copy_from_slice(&field);
        self
    }
}

pub(super) fn filestat(stat: &Filestat) -> [u8; 64] {
    Record([0; 64])
        .put(0, stat.device.to_le_bytes())
        .put(8, stat.ino.to_le_bytes())
        .put(16, [stat.kind as u8])
        .put(24, stat.links.to_le_bytes())
        .put(32, stat.bytes.to_le_bytes())
        .put(40, stat.times.accessed.to_le_bytes())
        .put(48, stat.times.modified.to_le_bytes())
        .put(56, stat.times.changed.to_le_bytes())
        .0
}

pub(super) fn fdstat(stat: &Fdstat) -> [u8; 24] {
    Record([0; 24])
        .put(0, [stat.kind as u8])
        .put(2, stat.flags.to_le_bytes())
        .put(8, stat.rights.to_le_bytes())
        .put(16, stat.inheriting.to_le_bytes())
        .0
}

/// A folder that is open from the start, whose name has so many bytes.
pub(super) fn prestat(name: u32) -> [u8; 8] {
    Record([0; 8]).put(4, name.to_le_bytes()).0
}

/// What became ready: `tag` is what was asked for, a clock (0) or a descriptor to read (1) or write (2).
pub(super) fn event(userdata: u64, tag: u8) -> [u8; 32] {
    Record([0; 32]).put(0, userdata.to_le_bytes()).put(10, [tag]).put(16, 1_u64.to_le_bytes()).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::files::Kind;
    use crate::sandbox::files::tree::Times;

    #[test]
    fn an_address_that_does_not_hold_is_a_fault() {
        let mut bytes = [7; 100];
        let mut memory = Memory(&mut bytes);
        assert_eq!(memory.bytes(0, 100).map(<[u8]>::len), Ok(100));
        assert_eq!(memory.bytes(100, 0).map(<[u8]>::len), Ok(0));
        for (at, len) in [(0, 101), (100, 1), (101, 0), (u32::MAX, 1), (u32::MAX, u32::MAX), (1, u32::MAX)] {
            assert_eq!(memory.bytes(at, len), Err(Errno::Fault), "{at} {len}");
            assert_eq!(memory.bytes_mut(at, len), Err(Errno::Fault), "{at} {len}");
        }
        assert_eq!(memory.read::<8>(92), Ok([7; 8]));
        for at in [93, 100, 101, u32::MAX] {
            assert_eq!(memory.read::<8>(at), Err(Errno::Fault), "{at}");
            assert_eq!(memory.write(at, &[0; 8]), Err(Errno::Fault), "{at}");
            assert_eq!(memory.write_u64(at, 0), Err(Errno::Fault), "{at}");
        }
        assert_eq!(memory.write_u32(97, 0), Err(Errno::Fault));
        assert_eq!((memory.write_u32(3, 1), memory.0[3..8].to_vec()), (Ok(()), vec![1, 0, 0, 0, 7]));
        assert_eq!(nth(u32::MAX - 8, 1, 8), Ok(u32::MAX));
        assert_eq!(nth(u32::MAX, 1, 1), Err(Errno::Fault));
        assert_eq!(nth(0, u32::MAX, 2), Err(Errno::Fault));
    }

    #[test]
    fn a_path_is_short_and_text() {
        let mut bytes = [b'a'; 5000];
        bytes[10] = 0xff;
        let memory = Memory(&mut bytes);
        assert_eq!(memory.path(0, 3), Ok("aaa"));
        assert_eq!(memory.path(9, 3), Err(Errno::Ilseq));
        assert_eq!(memory.path(11, 4096).map(str::len), Ok(4096));
        assert_eq!(memory.path(11, 4097), Err(Errno::Nametoolong));
        assert_eq!(memory.path(0, u32::MAX), Err(Errno::Nametoolong));
        assert_eq!(memory.path(4999, 2), Err(Errno::Fault));
    }

    #[test]
    fn buffers_are_bounded_in_number_and_in_sum_and_lie_in_memory() {
        let mut bytes = vec![0; 64 << 10];
        let put = |bytes: &mut [u8], index: usize, at: u32, len: u32| {
            bytes[index * 8..index * 8 + 4].copy_from_slice(&at.to_le_bytes());
            bytes[index * 8 + 4..index * 8 + 8].copy_from_slice(&len.to_le_bytes());
        };
        put(&mut bytes, 0, 100, 50);
        put(&mut bytes, 1, 0, 64 << 10);
        let memory = Memory(&mut bytes);
        let buffers = memory.buffers(0, 1024).unwrap();
        assert_eq!((buffers.get(&memory, 0), buffers.get(&memory, 1)), (Ok((100, 50)), Ok((0, 64 << 10))));
        assert!(memory.buffers(0, 0).is_ok());
        assert_eq!(memory.buffers(0, 1025).err(), Some(Errno::Inval));
        assert_eq!(memory.buffers(0, u32::MAX).err(), Some(Errno::Inval));
        assert_eq!(memory.buffers(u32::MAX - 7, 2).err(), Some(Errno::Fault));
        assert_eq!(memory.buffers(65529, 1).err(), Some(Errno::Fault));
        put(&mut bytes, 1, 1, 64 << 10);
        assert_eq!(Memory(&mut bytes).buffers(0, 2).err(), Some(Errno::Fault));
        put(&mut bytes, 1, u32::MAX, u32::MAX);
        assert_eq!(Memory(&mut bytes).buffers(0, 2).err(), Some(Errno::Fault));
    }

    #[test]
    fn buffers_of_more_than_4_gib_in_all_are_refused() {
        let mut bytes = vec![0; 8 << 20];
        for index in 0..1024 {
            bytes[index * 8 + 4..index * 8 + 8].copy_from_slice(&(4_u32 << 20).to_le_bytes());
        }
        let memory = Memory(&mut bytes);
        assert!(memory.buffers(0, 1023).is_ok());
        assert_eq!(memory.buffers(0, 1024).err(), Some(Errno::Inval));
    }

    #[test]
    fn records_have_their_fields_where_preview_1_puts_them() {
        let times = Times { accessed: 6, modified: 7, changed: 8 };
        let stat = filestat(&Filestat { device: 1, ino: 2, kind: Kind::Folder, links: 4, bytes: 5, times });
        let words: Vec<u64> = stat.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [1, 2, 3, 4, 5, 6, 7, 8]);
        let stat = fdstat(&Fdstat { kind: Kind::File, flags: 0x102, rights: 3, inheriting: u64::MAX });
        assert_eq!(stat[..8], [4, 0, 2, 1, 0, 0, 0, 0]);
        assert_eq!((stat[8], &stat[16..]), (3, &[0xff; 8][..]));
        assert_eq!(prestat(0x01020304), [0, 0, 0, 0, 4, 3, 2, 1]);
        let event = event(u64::MAX, 2);
        assert_eq!((&event[..8], &event[8..17]), (&[0xff; 8][..], &[0, 0, 2, 0, 0, 0, 0, 0, 1][..]));
    }
}
