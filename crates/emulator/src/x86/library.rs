//! Functions of the C library that are carried out as they are, with what they touch noted before.
//!
//! They are short to say and long to follow, and there are versions of them for every processor, some
//! with instructions that are not followed.

use crate::log::{Log, PAGE};
use crate::obstacle::Obstacle;
use crate::registers::{RDI, RDX, RSI};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `(to, from, size)`
    Copy,
    /// `(to, byte, size)`
    Set,
    /// `(left, right, size)`
    Compare,
    /// `(start, byte, size)`; it stops at the byte.
    Find,
    /// `(string)`
    Length,
}

const NAMES: [(&std::ffi::CStr, Kind); 7] = [
    (c"memcpy", Kind::Copy),
    (c"memmove", Kind::Copy),
    (c"memset", Kind::Set),
    (c"memcmp", Kind::Compare),
    (c"bcmp", Kind::Compare),
    (c"memchr", Kind::Find),
    (c"strlen", Kind::Length),
];

/// The functions with their addresses.
pub(crate) struct Library([(u64, Kind); NAMES.len()]);

impl Library {
    pub(crate) fn new() -> Library {
        Library(NAMES.map(|(name, kind)| {
            // SAFETY: the name is a string that ends in zero.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            (address as u64, kind)
        }))
    }

    /// Carries out the function at this address, if it is one of these, and gives its value.
    ///
    /// # Safety
    /// Nobody else uses the memory.
    pub(crate) unsafe fn call(
        &self,
        address: u64,
        general: &[u64],
        log: &mut Log,
    ) -> Result<Option<u64>, Obstacle> {
        let found = self.0.iter().find(|(function, _)| *function == address);
        let Some(&(function, kind)) = found.filter(|(function, _)| *function != 0) else { return Ok(None) };
        let (first, second, size) = (general[RDI], general[RSI], general[RDX]);
        match kind {
            Kind::Copy => {
                log.touch(second as usize, size as usize, false)?;
                log.touch(first as usize, size as usize, true)?;
            }
            Kind::Set => log.touch(first as usize, size as usize, true)?,
            Kind::Compare => {
                log.touch(first as usize, size as usize, false)?;
                log.touch(second as usize, size as usize, false)?;
            }
            Kind::Find => {
                // SAFETY: as promised by the caller.
                let found = unsafe { find(first as usize, second as u8, size as usize, log)? };
                return Ok(Some(found.unwrap_or(0) as u64));
            }
            Kind::Length => {
                // SAFETY: as promised by the caller.
                let end = unsafe { find(first as usize, 0, usize::MAX, log)? };
                return Ok(end.map(|end| end as u64 - first));
            }
        }
        // SAFETY: it is the function of the C library with three arguments; the log has seen that the
        // memory is mapped.
        let value = unsafe {
            let function: extern "C" fn(u64, u64, u64) -> u64 =
                std::mem::transmute::<usize, extern "C" fn(u64, u64, u64) -> u64>(function as usize);
            function(first, second, size)
        };
        Ok(Some(value))
    }
}

/// The address of the first such byte; those up to it are noted.
///
/// # Safety
/// Nobody else uses the memory.
unsafe fn find(start: usize, byte: u8, size: usize, log: &mut Log) -> Result<Option<usize>, Obstacle> {
    let mut at = start;
    let end = start.saturating_add(size);
    while at < end {
        // The rest of the page may be read if its first byte may.
        log.touch(at, 1, false)?;
        let part = (end - at).min(PAGE - at % PAGE);
        // SAFETY: the log has seen that the page may be read.
        let found = (at..at + part).find(|&at| unsafe { (at as *const u8).read_volatile() } == byte);
        log.touch(at, found.map_or(part, |found| found + 1 - at), false)?;
        if found.is_some() {
            return Ok(found);
        }
        at += part;
    }
    Ok(None)
}
