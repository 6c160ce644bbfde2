//! CRC-32C (Castagnoli), the checksum of TFRecords.

/// The Castagnoli polynomial, bits reversed.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// The checksum of every single byte.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// CRC-32C of `bytes`.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| (crc >> 8) ^ TABLE[((crc ^ u32::from(*byte)) & 0xFF) as usize])
}

/// The masked checksum of TFRecords, rot₁₅(crc) + 0xA282EAD8: the CRC of bytes that contain their own CRC is
/// of little use, and records get nested.
pub(super) fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    #[test]
    fn published_vectors() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        // RFC 3720, B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(crc32c(b""), 0);
    }
}
