//! Bytes of a file that may be gzip, never more of them than allowed.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};

use flate2::bufread::MultiGzDecoder;

use crate::trouble::size;

/// How gzip files begin.
const MAGIC: &[u8] = b"\x1f\x8b";

/// The bytes of `reader`, unpacked if they begin as gzip does; an error beyond `limit`.
pub(crate) fn inflate<'a>(reader: impl Read + Send + 'a, limit: u64) -> Result<Box<dyn Read + Send + 'a>> {
    let mut reader = BufReader::new(reader);
    let packed = reader.fill_buf()?.starts_with(MAGIC);
    let source: Box<dyn Read + Send + 'a> =
        if packed { Box::new(MultiGzDecoder::new(reader)) } else { Box::new(reader) };
    Ok(Box::new(Bounded { source, left: limit, limit, packed }))
}

struct Bounded<'a> {
    source: Box<dyn Read + Send + 'a>,
    left: u64,
    limit: u64,
    packed: bool,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.source.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let what = if self.packed { "unpacked, the file" } else { "the file" };
            let text = format!("{what} has more than {}, which is the limit", size(self.limit));
            Error::new(ErrorKind::FileTooLarge, text)
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], limit: u64) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        inflate(bytes, limit)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn plain_and_packed() {
        assert_eq!(read(b"a,b\n", 4).unwrap(), b"a,b\n");
        assert_eq!(read(&packed(b"a,b\n"), 4).unwrap(), b"a,b\n");
        let twice = [packed(b"a,"), packed(b"b\n")].concat();
        assert_eq!(read(&twice, 4).unwrap(), b"a,b\n");
        assert_eq!(read(b"", 4).unwrap(), b"");
    }

    #[test]
    fn bombs_and_broken_files() {
        let bomb = packed(&vec![b'0'; 1 << 20]);
        assert!(bomb.len() < 2048);
        assert_eq!(read(&bomb, 1 << 16).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(b"12345", 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let whole = packed(b"a,b\n1,2\n");
        for cut in 2..whole.len() {
            assert!(read(&whole[..cut], 100).is_err(), "{cut}");
        }
    }
}
