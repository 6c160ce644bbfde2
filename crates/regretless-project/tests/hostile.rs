//! Broken, mutated and random input: never a panic, never more memory than the input is worth.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_project::{Array, DataReader, Limits, ParameterTable, Spec, TableReader, Want};

/// The system's allocator with an eye on the largest single request.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, and it is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `alloc` above, that is from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Small, so that a file which asks for much is refused and one which asks for a little is solved quickly.
const LIMITS: Limits = Limits {
    problem_bytes: 1 << 20,
    model_bytes: 1 << 20,
    table_bytes: 1 << 20,
    variables: 64,
    predicted: 4096,
    terms: 4096,
    entries: 4096,
};

/// Nothing here is larger than a few kilobytes; a megabyte at once means that somebody believed a number in a file.
const MOST: usize = 1 << 20;

const SEEDS: [&str; 6] = [
    include_str!("../../../examples/farm/problem.toml"),
    include_str!("../../../examples/portfolio/problem.toml"),
    include_str!("../../../examples/provisioning/problem.toml"),
    r#"
[problem]
name = "all forms"
sense = "min"
variables = 2
[objective]
linear = 1
quadratic = [[2, 0.5], [0.5, 1]]
[[soft]]
rows = { predict = ["c_*", "e?"] }
limit = [1e3, -2.5]
over = { predict = "a*" }
under = 0.5
[[hard]]
rows = [1, 2]
equals = { file = "c.csv" }
[bounds]
lower = ["-inf", -1_000]
upper = { predict = "u*" }
[surrogate]
k = 0x10
segments = "vertex"
multipliers = { rule = "empirical", factor = 7, sqrt_n = true }
"#,
    r#"
[problem]
variables = 2
[objective]
linear = { predict = "price_*" }
[surrogate]
k = [1, 2.5]
[data]
file = "h.csv"
features = ["c_*", "e{variable}"]
exclude = "a1"
key = "u1"
missing = "mean"
split = { kind = "chronological", valid = 0.1, test = 0.2 }
[predictor]
kind = "mlp"
layers = [8, 8]
activation = "gelu"
shared = true
[training]
method = "surrogate+l2"
optimizer = "sgd"
schedule = { kind = "plateau", factor = 0.5 }
clip = { norm = 1 }
stop = { patience = 3 }
mix = { from = 1, to = 0, epochs = 5 }
scenarios = { source = "ensemble", count = 4 }
"#,
    r#"
[sets]
h = "08..10"
u = ["a", "b"]
arc = [["a", "b"], ["b", "a"]]
[quantities]
price = { for = "u", predict = "price_*" }
e = { known = ["e1"] }
cap = { for = "u, h", value = [[1, 2, 3], { 08 = 1, 09 = 2, 10 = 3 }] }
[variables]
x = { for = "i in u, t in h", upper = "cap[i, t] + e", before = 2.0 }
flow = { for = "arc", cyclic = true }
[objective]
minimize = "sum(i in u, t in h if t != 09 and i = 'a': price[i] * x[i, t]) + 2 * (x['b', 08] - 1)^2 + price['b'] * flow['a', 'b']"
[[hard]]
for = "i in u, t in h"
row = "-e <= x[i, t] - 0.9 * x[i, t-1] / 2 <= 7"
[[soft]]
for = "i in u"
row = "sum((i, j) in arc: flow[i, j]) >= e * 2"
under = "3 + price[i]"
"#,
];

/// Pieces that mean something to the parser, to be put anywhere.
const WORDS: [&str; 32] = [
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'''",
    "\n",
    "=",
    ",",
    "nan",
    "-inf",
    "1e999",
    "99999999999999999999",
    "0x",
    "predict",
    "file",
    "[[soft]]",
    "rows = ",
    "\u{0}",
    "\u{feff}",
    "θ",
    "# ",
    "1979-05-27",
    "variables = 1000000000\n",
    "sum(t in h: ",
    "[t-1]",
    "^2",
    " * ",
    "((((((((",
    " if ",
    "-999999999",
    "h = 1000000000\n",
];

fn mutate(rng: &mut ChaCha8Rng, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..=bytes.len());
        let to = rng.random_range(at..=bytes.len().min(at + 40));
        match rng.random_range(0..7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let word = WORDS[rng.random_range(0..WORDS.len())];
                bytes.splice(at..at, word.bytes());
            }
            4 => {
                let word = WORDS[rng.random_range(0..WORDS.len())];
                bytes.splice(at..to, word.bytes());
            }
            5 => bytes.insert(at, rng.random()),
            _ if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            _ => {}
        }
    }
    bytes
}

fn watched<T>(what: &str, input: &[u8], f: impl FnOnce() -> T) -> T {
    LARGEST.store(0, Ordering::Relaxed);
    let out = f();
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(
        largest <= MOST,
        "{what} asked for {largest} bytes at once on {:?}",
        String::from_utf8_lossy(input)
    );
    out
}

/// Parses a problem file's text and, where that works, tries a table on it. Messages are rendered too.
fn feed(text: &str) -> bool {
    match Spec::parse(text, "nowhere/p.toml", &LIMITS) {
        Ok(spec) => {
            let table = "price_a,price_b,c_1,e1,a1,u1\n1,2,3,4,5,6\n";
            let table = ParameterTable::from_csv(table.as_bytes(), Path::new("t.csv"), &spec, &LIMITS);
            if let Ok(table) = table {
                let row = table.row(0).unwrap();
                let _ = spec.problem().view(&row.instance());
            }
            let table = "price_a,price_b,c_1,e1,a1,u1\n1,2,3,4,5,6\n1,,3,4,5,6\n";
            let table = TableReader::from_csv(table.as_bytes(), Path::new("t.csv"), &LIMITS).unwrap();
            if let Ok(mut data) = DataReader::new(&spec, table, Want { features: true, targets: true }) {
                let _ = data.next();
            }
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(error.place.position().is_none_or(|(line, column)| line > 0 && column > 0));
            false
        }
    }
}

// One test, because the largest request is counted for the whole process.
#[test]
fn hostile_input() {
    problem_files();
    models();
    numbers_in_csv();
    numbers_in_npy();
    tables();
    datasets();
}

/// MPS and LP files: what is read can be looked at as a problem.
fn models() {
    let mps = "NAME m\nOBJSENSE\n MAX\nROWS\n N o\n E e\n L l\n G g\nCOLUMNS\n x o 1 e 1\n x l 2\n y o 1 g 1\nRHS\n s e 1 l 4\n\
                RANGES\n s l 2\nBOUNDS\n UP s x 4\n FR s y\nQUADOBJ\n x x -2\n y x -1\n y y -2\nENDATA\n";
    let lp = "\\ every section\nmax gain: 3 x + 2 y - [ x^2 - 2 x * y + y * y ] / 2 + 7\nSubject To\n most: x + y <= 10\n\
              2 <= x + w <= 8\n e: y = 4\nBounds\n x <= 4\n -5 <= w <= 5\n y free\nbin\nEnd\n";
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for (seed, name) in [(mps, "nowhere/m.mps"), (lp, "nowhere/m.lp")] {
        let mut good = 0;
        for _ in 0..20_000 {
            let bytes = mutate(&mut rng, seed.as_bytes());
            let text = String::from_utf8_lossy(&bytes);
            match watched("a model", &bytes, || Spec::parse(&*text, name, &LIMITS)) {
                Ok(spec) => {
                    assert!(spec.problem().view(&regretless_core::Instance::default()).is_ok());
                    good += 1;
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        assert!((100..19_900).contains(&good), "{name}: {good}");
    }
}

fn problem_files() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut good = 0;
    for round in 0..40_000 {
        let bytes = mutate(&mut rng, SEEDS[round % SEEDS.len()].as_bytes());
        let text = String::from_utf8_lossy(&bytes);
        good += usize::from(watched("a problem file", &bytes, || feed(&text)));
    }
    // Mutations that leave the file valid go deep, the others shallow: both kinds must be there.
    assert!(good > 1000, "{good}");
    for seed in SEEDS {
        for cut in (0..seed.len()).filter(|&cut| seed.is_char_boundary(cut)) {
            watched("a truncated problem file", seed.as_bytes(), || feed(&seed[..cut]));
        }
    }
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..rng.random_range(0..200)).map(|_| rng.random()).collect();
        watched("random bytes", &bytes, || feed(&String::from_utf8_lossy(&bytes)));
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(!feed(&deep));
}

fn numbers_in_csv() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let seed = b"a,\"b,c\",d\r\n1,2.5,-3e-7\n\n4,\"5\",inf\n";
    for _ in 0..20_000 {
        let bytes = mutate(&mut rng, seed);
        let array = watched("CSV", &bytes, || Array::from_csv(&bytes[..], Path::new("a.csv"), &LIMITS));
        if let Ok(array) = array {
            assert_eq!(array.values.len(), array.rows * array.cols);
        }
    }
}

fn numbers_in_npy() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }                  \n";
    let mut seed = b"\x93NUMPY\x01\x00".to_vec();
    seed.extend((header.len() as u16).to_le_bytes());
    seed.extend(header.as_bytes());
    seed.extend((0..6).flat_map(|i| f64::from(i).to_le_bytes()));
    let read = |bytes: &[u8]| Array::from_npy(bytes, bytes.len() as u64, Path::new("a.npy"), &LIMITS);
    assert_eq!(read(&seed).unwrap().values, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    for _ in 0..20_000 {
        let bytes = mutate(&mut rng, &seed);
        if let Ok(array) = watched("NPY", &bytes, || read(&bytes)) {
            assert_eq!(array.values.len(), array.rows * array.cols);
        }
    }
}

fn tables() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let spec = Spec::parse(SEEDS[0], "p.toml", &LIMITS).unwrap();
    let seed = include_bytes!("../../../examples/farm/prices.csv");
    for _ in 0..20_000 {
        let bytes = mutate(&mut rng, seed);
        let read = || ParameterTable::from_csv(&bytes[..], Path::new("t.csv"), &spec, &LIMITS);
        if let Ok(table) = watched("a table", &bytes, read) {
            for row in 0..table.len() {
                assert!(spec.problem().view(&table.row(row).unwrap().instance()).is_ok());
            }
        }
    }
}

fn datasets() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let more = "[data]\nfile = \"h.csv\"\nkey = \"day\"\nmissing = \"drop\"\nsplit = { column = \"part\" }\n";
    let spec = Spec::parse(format!("{}{more}", SEEDS[0]), "p.toml", &LIMITS).unwrap();
    let plain =
        b"day,temp,price_wheat,price_corn,part\nmon,1,2,3,train\n\"tue\",NA,2,3,test\nwed,1e3,,3,valid\n";
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(plain).unwrap();
    let packed = packed.finish().unwrap();
    for round in 0..40_000 {
        let bytes = mutate(&mut rng, if round % 2 == 0 { plain } else { &packed });
        watched("a dataset", &bytes, || {
            let table = TableReader::from_csv(&bytes[..], Path::new("t.csv"), &LIMITS);
            let data =
                table.and_then(|table| DataReader::new(&spec, table, Want { features: true, targets: true }));
            let Ok(mut data) = data else { return };
            while let Ok(Some(chunk)) = data.next() {
                assert_eq!(chunk.features.len(), chunk.rows * data.columns().features.len());
                assert_eq!(chunk.targets.len(), chunk.rows * 2);
                assert!(chunk.features.iter().chain(&chunk.targets).all(|v| v.is_finite()));
            }
        });
    }
}
