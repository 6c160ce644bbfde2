//! NPY written: what `numpy.save` writes for arrays of doubles.

/// The bytes of an NPY file with `values` in the given shape, such as `2, 3` or `6,`.
pub(super) fn bytes(values: &[f64], shape: &str) -> Vec<u8> {
    const ALIGN: usize = 64;
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take 10 bytes; a line feed ends the header on a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(ALIGN) - 10;
    header.extend(std::iter::repeat_n(' ', length - 1 - header.len()));
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((length as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, Limits};

    #[test]
    fn what_is_written_is_read() {
        let values = [1.0, -0.1, f64::INFINITY, 1e-300];
        let file = bytes(&values, "2, 2");
        assert_eq!((file.len() - 4 * 8) % 64, 0);
        let array =
            Array::from_npy(&file[..], file.len() as u64, "a.npy".as_ref(), &Limits::default()).unwrap();
        assert_eq!((array.rows, array.cols, &array.values[..]), (2, 2, &values[..]));
    }
}
