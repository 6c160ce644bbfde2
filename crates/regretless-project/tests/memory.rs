//! Problems and tables that are in memory: what a file would say of them, and the same data.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use regretless_core::{Matrix, Problem, Soft};
use regretless_project::{Column, DataFiles, Frame, Limits, Parameter, Spec};
use serde_json::json;

/// Two soft blocks, both kinds of hard rows, free and bounded variables.
fn problem() -> Problem {
    let soft =
        |row: [f64; 2], limit: f64| Soft::both(Matrix::from_rows(&[row]), vec![limit], vec![3.0], vec![0.5]);
    Problem::minimize(2)
        .variables(["wheat", "corn"])
        .linear([1.0, 0.1 + 0.2])
        .quadratic(Matrix::from_rows(&[[2.0, 0.5], [0.5, 1.0]]))
        .soft("water", soft([1.0, 2.0], 4.0))
        .soft("hours", soft([3.0, 1.0], 5.0))
        .at_most("land", Matrix::from_rows(&[[1.0, 1.0]]), [8.0])
        .equal("total", Matrix::from_rows(&[[1.0, -1.0]]), [0.25])
        .lower([f64::NEG_INFINITY, 0.0])
        .upper([9.0, f64::INFINITY])
        .build()
        .unwrap()
}

#[test]
fn what_is_written_is_read() {
    let everything = [
        vec![Parameter::Linear],
        vec![Parameter::SoftRows, Parameter::Limit],
        vec![Parameter::Over, Parameter::Under, Parameter::Quadratic],
        vec![Parameter::AtMostRows, Parameter::AtMost, Parameter::EqualRows, Parameter::Equals],
        vec![Parameter::Lower, Parameter::Upper],
    ];
    for predicted in everything {
        let settings = json!({
            "data": { "memory": true, "features": ["rain", "sun"], "split": { "valid": 0.25, "test": 0.0 } },
            "predictor": { "kind": "linear" },
            "training": { "method": "l2", "seed": 7 },
        });
        let stated = Spec::in_memory(&problem(), &predicted, None, &settings).unwrap();
        let folder = tempfile::tempdir().unwrap();
        stated.write(folder.path(), "config.toml").unwrap();
        let read = Spec::read(folder.path().join("config.toml")).unwrap();
        let columns =
            |spec: &Spec| spec.predicted().iter().flat_map(|p| p.columns.clone()).collect::<Vec<_>>();
        let placement = |spec: &Spec| spec.placement(&columns(spec), &[]).unwrap();
        assert_eq!(placement(&read), placement(&stated), "{predicted:?}");
        assert_eq!(columns(&read), columns(&stated));
        assert_eq!(format!("{:?}", read.settings()), format!("{:?}", stated.settings()));
        let data = read.data().unwrap();
        assert_eq!(data.files, DataFiles::Memory);
        assert_eq!(data.features.as_deref().unwrap(), ["rain", "sun"]);
        for parameter in Parameter::ALL.into_iter().filter(|p| !predicted.contains(p)) {
            assert_eq!(parameter.of(read.problem()), parameter.of(stated.problem()), "{parameter:?}");
        }
        // There is no table to learn from, and the message says so.
        assert!(read.read_data().unwrap_err().to_string().contains("in memory"));
    }
}

#[test]
fn names_are_those_of_the_parameters_in_their_order() {
    let predicted = [Parameter::Limit, Parameter::Linear];
    let names = ["a", "b", "c", "d"].map(str::to_owned);
    let spec = Spec::in_memory(&problem(), &predicted, Some(&names), &json!({})).unwrap();
    let found: Vec<(String, Vec<String>)> =
        spec.predicted().iter().map(|p| (p.key.clone(), p.columns.clone())).collect();
    let wanted =
        [("objective.linear", &["c", "d"][..]), ("soft[0].limit", &["a"]), ("soft[1].limit", &["b"])];
    for ((key, columns), (wanted_key, wanted_columns)) in found.iter().zip(wanted) {
        assert_eq!(
            (key.as_str(), &columns[..]),
            (wanted_key, &wanted_columns.iter().map(ToString::to_string).collect::<Vec<_>>()[..])
        );
    }
    let few = Spec::in_memory(&problem(), &predicted, Some(&names[..3]), &json!({}));
    assert!(few.unwrap_err().to_string().contains("3 columns are named, 4 are predicted"));
}

#[test]
fn a_frame_is_a_table() {
    let text = "[problem]\nvariables = [\"w\", \"c\"]\n[objective]\nlinear = { predict = \"price_*\" }\n\
                [data]\nfile = \"h.csv\"\nkey = \"day\"\nmissing = \"drop\"\n[bounds]\nupper = 1.0\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.toml"), text).unwrap();
    let csv = "day,rain,price_c,price_w,word\nmon,0.5,2,1,a\ntue,,4,3,b\nwed,1.5,6,5,c\n";
    std::fs::write(folder.path().join("h.csv"), csv).unwrap();
    let spec = Spec::read(folder.path().join("p.toml")).unwrap();
    let words = |all: [&str; 3]| Column::Texts(all.map(str::to_owned).to_vec());
    let columns = vec![
        ("day".into(), words(["mon", "tue", "wed"])),
        ("rain".into(), Column::Numbers(vec![0.5, f64::NAN, 1.5])),
        ("price_c".into(), Column::Numbers(vec![2.0, 4.0, 6.0])),
        ("price_w".into(), Column::Numbers(vec![1.0, 3.0, 5.0])),
        ("word".into(), words(["a", "b", "c"])),
    ];
    let frame = Frame::new("the frame", columns.clone()).unwrap();
    let (of_file, of_frame) = (spec.read_data().unwrap(), spec.read_frame(&frame).unwrap().0);
    assert_eq!(of_frame.features, of_file.features);
    assert_eq!((&of_frame.targets[..], of_frame.names.clone()), (&[1.0, 2.0, 5.0, 6.0][..], of_file.names));
    assert_eq!((of_frame.rows(), of_frame.dropped), (2, 1));
    let mut uneven = columns.clone();
    uneven[1].1 = Column::Numbers(vec![1.0]);
    assert!(Frame::new("the frame", uneven).is_none());
    let mut worded = columns;
    worded[2].1 = words(["2", "many", "6"]);
    let error = spec.read_frame(&Frame::new("the frame", worded).unwrap()).unwrap_err();
    assert!(error.to_string().contains("the frame, row 2") && error.to_string().contains("many"), "{error}");
}

#[test]
fn rows_are_in_memory_or_in_a_file() {
    let text = "[problem]\nvariables = 1\n[objective]\nlinear = { predict = \"a\" }\n[data]\nmemory = true\nfile = \"h.csv\"\n";
    let error = Spec::parse(text, "p.toml", &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("in memory or in a file"), "{error}");
}
