//! The synthetic LP with data that can be learned from, as files that a run reads.

use std::fmt::Write;
use std::path::Path;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use regretless_learn::Part;
use regretless_paper::Profile;
pub(crate) use regretless_paper::synthetic::Size;
use regretless_paper::synthetic::{History, LEARNABLE, Lp};
use regretless_project::Spec;

const DATA: &str = "[data]\ntrain = \"train.csv\"\nvalid = \"valid.csv\"\nfeatures = \"f*\"\n\n";

/// Rows for training, for validation, and new ones to decide for.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) train: usize,
    pub(crate) valid: usize,
    pub(crate) new: usize,
}

/// Writes `problem.toml`, `train.csv`, `valid.csv` and, without truths, `new.csv`; returns the problem file, read.
pub(crate) fn write(dir: &Path, size: Size, rows: Rows, training: &str) -> Spec {
    let parts = vec![Part::Train; rows.train + rows.valid + rows.new];
    let mut rng = ChaCha8Rng::seed_from_u64(2006);
    let History { features, targets, .. } =
        History::of_parts(size.n, parts, Profile::Published, Some(LEARNABLE), &mut rng);
    let table = |name: &str, from: usize, count: usize, truths: bool| {
        let (wide, n) = (2 * size.n, if truths { size.n } else { 0 });
        let head = (0..wide).map(|j| format!("f{j}")).chain((0..n).map(|j| format!("theta_{j}")));
        let mut text = head.collect::<Vec<_>>().join(",") + "\n";
        for i in from..from + count {
            let row = features[i * wide..(i + 1) * wide].iter().chain(&targets[i * size.n..i * size.n + n]);
            text += &row.map(f64::to_string).collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        std::fs::write(dir.join(name), text).unwrap();
    };
    table("train.csv", 0, rows.train, true);
    table("valid.csv", rows.train, rows.valid, true);
    table("new.csv", rows.train + rows.valid, rows.new, false);
    std::fs::write(dir.join("problem.toml"), problem_file(&Lp::draw(size, 2021 * 31)) + DATA + training)
        .unwrap();
    Spec::read(dir.join("problem.toml")).unwrap()
}

/// The problem file of an LP, settings apart; θ is predicted.
fn problem_file(lp: &Lp) -> String {
    let n = lp.size.n;
    let rows = |m: &[f64]| m.chunks_exact(n).map(|row| format!("{row:?}")).collect::<Vec<_>>().join(",\n");
    let mut text = format!(
        "[problem]\nname = \"synthetic LP ({})\"\nvariables = {n}\n\n[objective]\nlinear = {{ predict = \"theta_*\" }}\n\n",
        lp.size
    );
    if lp.size.soft > 0 {
        let (rows, limit, over) = (rows(&lp.soft), &lp.limit, &lp.over);
        let _ = writeln!(
            text,
            "[[soft]]\nname = \"soft\"\nrows = [{rows}]\nlimit = {limit:?}\nover = {over:?}\n"
        );
    }
    let _ = writeln!(
        text,
        "[[hard]]\nname = \"hard\"\nrows = [{}]\nat_most = {:?}\n",
        rows(&lp.hard),
        lp.at_most
    );
    text
}
