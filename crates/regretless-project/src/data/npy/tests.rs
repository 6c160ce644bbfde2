use super::*;

/// An NPY file of version 1 as numpy writes it.
fn file(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn parse(bytes: &[u8]) -> Result<Array, Trouble> {
    read(bytes, bytes.len() as u64, 1000)
}

#[test]
fn both_orders() {
    let data = doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let c = parse(&file("<f8", "False", "(2, 3)", &data)).unwrap();
    assert_eq!((c.rows, c.cols, c.values), (2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let fortran = parse(&file("<f8", "True", "(2, 3)", &data)).unwrap();
    assert_eq!((fortran.rows, fortran.cols, fortran.values), (2, 3, vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
}

#[test]
fn every_type() {
    let f4: Vec<u8> = [1.5_f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(parse(&file("<f4", "False", "(2,)", &f4)).unwrap().values, [1.5, -2.0]);
    let i8: Vec<u8> = [7_i64, -1].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(parse(&file("<i8", "False", "(2,)", &i8)).unwrap().values, [7.0, -1.0]);
    let i4: Vec<u8> = [7_i32, -1].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(parse(&file("<i4", "False", "(2, 1)", &i4)).unwrap().values, [7.0, -1.0]);
}

#[test]
fn later_versions() {
    let mut v1 = file("<f8", "False", "(1,)", &doubles(&[9.0]));
    let length = v1[8..10].to_vec();
    v1[6] = 2;
    v1.splice(8..10, [length[0], length[1], 0, 0]);
    assert_eq!(parse(&v1).unwrap().values, [9.0]);
    v1[6] = 3;
    assert_eq!(parse(&v1).unwrap().values, [9.0]);
    v1[6] = 4;
    assert!(parse(&v1).is_err());
}

#[test]
fn lies_are_refused() {
    let data = doubles(&[1.0]);
    let message = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
    assert!(message(&file("<f8", "False", "(999,)", &data)).contains("8 bytes are there"));
    assert!(message(&file("<f8", "False", "(1000000000, 1000000000000)", &data)).contains("limit is 1000"));
    assert!(message(&file("<f8", "False", "(18446744073709551615, 2)", &data)).contains("limit is 1000"));
    assert!(message(&file("<f8", "False", "(99999999999999999999999,)", &data)).contains("tuple of sizes"));
    assert!(message(&file("<f8", "False", "(-1,)", &data)).contains("tuple of sizes"));
    assert!(message(&file("<f8", "False", "(1, 1, 1)", &data)).contains("3 dimensions"));
    assert!(message(&file("<f8", "False", "()", &data)).contains("0 dimensions"));
    assert!(message(&file("<f8", "False", "(0, 3)", &[])).contains("no entries"));
    assert!(message(&file(">f8", "False", "(1,)", &data)).contains(">f8"));
    assert!(message(&file("|O", "False", "(1,)", &data)).contains("|O"));
    assert!(message(b"PK\x03\x04 something else").contains("begin as NPY"));
    assert!(message(b"\x93NUM").contains("cut off"));
    assert!(message(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").contains("header claims"));
}

#[test]
fn every_truncation_is_an_error() {
    let whole = file("<f8", "False", "(2, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0]));
    for cut in 0..whole.len() {
        assert!(parse(&whole[..cut]).is_err(), "cut at {cut}");
    }
}
