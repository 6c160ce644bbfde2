//! Features and truths of tables: which columns, what is missing, which part.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;

use regretless_learn::{DatePart, Kind, Part};
use regretless_project::{
    DataChunk, DataReader, Limits, Parameter, ParameterTable, Result, Spec, TableReader, Want,
};

/// 2020-01-01.
const DAY: f64 = 18_262.0 * 86_400.0;

const BOTH: Want = Want { features: true, targets: true };

const FARM: &str = "
[problem]
variables = [\"wheat\", \"corn\"]
[objective]
linear = { predict = \"price_*\" }
[bounds]
upper = 1
";

fn spec(more: &str) -> Spec {
    Spec::parse(format!("{FARM}{more}"), "p.toml", &Limits::default())
        .unwrap_or_else(|e| panic!("{e}\n{:?}", e.hint))
}

fn open<'a>(spec: &Spec, text: &'a str, want: Want) -> Result<DataReader<'a>> {
    let reader = TableReader::from_csv(text.as_bytes(), "t.csv".as_ref(), spec.limits())?;
    DataReader::new(spec, reader, want)
}

fn read(spec: &Spec, text: &str, want: Want) -> Result<DataChunk> {
    let mut reader = open(spec, text, want)?;
    let mut all = DataChunk::default();
    while let Some(chunk) = reader.next()? {
        all.rows += chunk.rows;
        all.dropped += chunk.dropped;
        all.features.extend(chunk.features);
        all.targets.extend(chunk.targets);
        all.lines.extend(chunk.lines);
        all.times.extend(chunk.times);
        if let Some(series) = chunk.series {
            all.series.get_or_insert_default().extend(series);
        }
        if let Some(keys) = chunk.keys {
            all.keys.get_or_insert_default().extend(keys);
        }
        if let Some(parts) = chunk.parts {
            all.parts.get_or_insert_default().extend(parts);
        }
    }
    Ok(all)
}

fn error(more: &str, text: &str) -> (String, String) {
    let error = read(&spec(more), text, BOTH).unwrap_err();
    (error.to_string(), error.hint.unwrap_or_default())
}

#[test]
fn what_nobody_says_is_sensible() {
    let text = "date,temp,price_corn,rain,price_wheat\n2020-01-01,1,20,3,10\n2020-01-02,4,50,6,40\n";
    let spec = spec("");
    let data = open(&spec, text, BOTH).unwrap();
    let columns = data.columns();
    assert_eq!(columns.feature_names, ["date", "temp", "rain"]);
    assert_eq!(columns.kinds, [Kind::Date(DatePart::USUAL.to_vec()), Kind::Number, Kind::Number]);
    // In the order of the variables.
    assert_eq!(columns.target_names, ["price_wheat", "price_corn"]);
    assert_eq!((columns.features.as_slice(), columns.targets.as_slice()), (&[0, 1, 3][..], &[4, 2][..]));
    assert_eq!((columns.skipped.as_slice(), &columns.selectors), (&[][..], &columns.feature_names));
    let chunk = read(&spec, text, BOTH).unwrap();
    assert_eq!(
        (chunk.rows, chunk.features, chunk.targets),
        (2, vec![DAY, 1.0, 3.0, DAY + 86_400.0, 4.0, 6.0], vec![10.0, 20.0, 40.0, 50.0])
    );
    // New rows have no truths yet; columns of the same names are no features either.
    let new = read(&spec, "temp,rain\n7,8\n", Want { features: true, targets: false }).unwrap();
    assert_eq!((new.features, new.targets), (vec![7.0, 8.0], vec![]));
    let truths =
        read(&spec, "price_wheat,price_corn\n7,8\n", Want { features: false, targets: true }).unwrap();
    assert_eq!((truths.features, truths.targets), (vec![], vec![7.0, 8.0]));
}

#[test]
fn chosen_columns() {
    let text = "id,load_2,load_1,temp,price_wheat,price_corn,part\na,1,2,3,4,5,train\nb,6,7,8,9,10,test\n";
    let chosen = spec(
        "[data]\nfile = \"t.csv\"\nfeatures = [\"temp\", \"*\"]\nexclude = \"load_2\"\nkey = \"id\"\nsplit = { column = \"part\" }\n",
    );
    let data = open(&chosen, text, BOTH).unwrap();
    assert_eq!(data.columns().feature_names, ["temp", "load_1"]);
    assert_eq!(data.columns().selectors, ["temp", "*"]);
    let chunk = read(&chosen, text, BOTH).unwrap();
    assert_eq!(chunk.keys.unwrap(), ["a", "b"]);
    assert_eq!(chunk.parts.unwrap(), [Part::Train, Part::Test]);
    assert_eq!(chunk.features, [3.0, 2.0, 8.0, 7.0]);
    // To decide, the split is not needed; what is excluded need not be there.
    let new = read(&chosen, "id,temp,load_1\nc,1,2\n", Want { features: true, targets: false }).unwrap();
    assert_eq!((new.features, new.keys.unwrap(), new.parts), (vec![1.0, 2.0], vec!["c".to_owned()], None));
}

#[test]
fn bad_choices() {
    let text = "id,temp,price_wheat,price_corn,part\na,1,2,3,train\nb,1,2,3,tset\n";
    let data = |more: &str| format!("[data]\nfile = \"t.csv\"\n{more}\n");
    let (message, hint) = error(&data("features = \"tmep\""), text);
    assert_eq!(message, "t.csv, line 1: no column of the table fits `tmep`");
    assert!(hint.contains("did you mean `temp`?"), "{hint}");
    let (message, _) = error(&data("features = \"price_corn\""), text);
    assert_eq!(message, "t.csv, line 1: the column `price_corn` is predicted, so it cannot be a feature");
    assert_eq!(error(&data("exclude = \"x*\""), text).0, "t.csv, line 1: no column of the table fits `x*`");
    assert_eq!(error(&data("key = \"ID\""), text).0, "t.csv, line 1: no column of the table fits `ID`");
    let (message, hint) = error(&data("features = [\"id\"]\nkinds = { id = \"number\" }"), text);
    assert_eq!(message, "t.csv, line 2, column 1 (`id`): `a` is not a number");
    assert!(hint.contains("say what it holds with data.kinds"), "{hint}");
    let (message, _) = error(&data("split = { column = \"part\" }"), text);
    assert_eq!(message, "t.csv, line 3, column 5 (`part`): `tset` is none of `train`, `valid` and `test`");
    let (message, hint) = error("[predictor]\nshared = true\n", "id,price_wheat,price_corn\na,1,2\n");
    assert_eq!(message, "t.csv, line 1: the table has no column that could be a feature");
    assert_eq!(hint, "a predictor of this kind takes numbers, and there is text in `id`");
    assert_eq!(
        error("", "t,t,price_a,price_b\n1,2,3,4\n").0,
        "t.csv, line 1: the table has the column `t` twice"
    );
    assert_eq!(error("", "t,price_a,price_b\n").0, "t.csv: the table has a header but no rows");
    let (message, hint) = error("", "t,price_a,price_b\n1,inf,2\n");
    assert_eq!(
        message,
        "t.csv, line 2, column 2 (`price_a`): inf is not allowed here, only finite numbers are"
    );
    assert_eq!(hint, "the column is an entry of the predicted `objective.linear`");
    let (message, hint) = error("", "t,price_a,price_b\n-inf,1,2\n");
    assert_eq!(message, "t.csv, line 2, column 1 (`t`): -inf is not allowed here, only finite numbers are");
    assert_eq!(hint, "the column is a feature, and features are finite numbers");
    assert_eq!(
        error("", "t,price_a,price_b\n1,1,2\n1,2\n").0,
        "t.csv, line 3: 2 cells, but the lines before have 3"
    );
    // A constant predictor needs no features.
    let constant = spec("[predictor]\nkind = \"constant\"\n");
    assert!(read(&constant, "id,price_wheat,price_corn\na,1,2\n", BOTH).unwrap().features.is_empty());
}

/// 50,000 rows, with holes in the rows 40,001 and 45,000.
fn holes() -> String {
    let mut text = "day,temp,price_wheat,price_corn\n".to_owned();
    for i in 1..=50_000 {
        let temp = if i == 40_001 { "NaN".to_owned() } else { i.to_string() };
        let price = if i == 45_000 { "" } else { "2" };
        writeln!(text, "d{i},{temp},1,{price}").unwrap();
    }
    text
}

#[test]
fn missing_values() {
    let text = holes();
    let data = |missing: &str| format!("[data]\nfile = \"t.csv\"\nkey = \"day\"\nmissing = \"{missing}\"\n");
    let (message, hint) = error(&data("refuse"), &text);
    assert_eq!(
        message,
        "t.csv: 2 rows of the table have no value in a column that is used: line 40002 (d40001) `temp`, line 45001 \
         (d45000) `price_corn`"
    );
    assert!(hint.contains("data.missing = \"drop\""), "{hint}");
    let chunk = read(&spec(&data("drop")), &text, BOTH).unwrap();
    assert_eq!(
        (chunk.rows, chunk.dropped, chunk.lines.len(), chunk.targets.len()),
        (49_998, 2, 49_998, 99_996)
    );
    assert_eq!((chunk.lines[40_000], chunk.keys.unwrap()[40_000].as_str()), (40_003, "d40002"));
    let (message, hint) = error(&data("mean"), &text);
    assert_eq!(
        message,
        "t.csv: 1 row of the table has no value in a column that is used: line 45001 (d45000) `price_corn`"
    );
    assert!(hint.contains("a truth cannot be filled in"), "{hint}");
    let chunk =
        read(&spec(&data("mean")), "day,temp,price_wheat,price_corn\na,,1,2\nb,3,1,2\n", BOTH).unwrap();
    assert!(chunk.features[0].is_nan() && chunk.features[1] == 3.0);
    let (message, _) = error(&data("drop"), "day,temp,price_wheat,price_corn\na,,1,2\n");
    assert!(message.starts_with("t.csv: every row of the table lacks a value"), "{message}");
    assert!(message.ends_with("lacks a value that is needed, and none is left"), "{message}");
    // Unless somebody says otherwise features may be missing, and rows without a truth teach nothing.
    let chunk = read(&spec(&data("keep")), &text, BOTH).unwrap();
    assert_eq!((chunk.rows, chunk.dropped), (49_999, 1));
    assert!(chunk.features[40_000].is_nan());
    assert_eq!(read(&spec(""), "temp,price_wheat,price_corn\n,1,2\n1,,2\n", BOTH).unwrap().rows, 1);
    let many = format!("temp,price_a,price_b\n{}", ",1,2\n".repeat(12));
    let (message, _) = error("[data]\nfile = \"t.csv\"\nmissing = \"refuse\"\n", &many);
    assert!(message.starts_with("t.csv: 12 rows") && message.ends_with("line 11 `temp`, …"), "{message}");
}

#[test]
fn negative_prices_of_a_table_are_nothing() {
    let text = "[problem]\nvariables = 1\n[[soft]]\nrows = [1]\nlimit = 1\nover = { predict = \"a\" }\n";
    let spec = Spec::parse(text, "p.toml", &Limits::default()).unwrap();
    assert!(read(&spec, "t,a\n1,2\n1,-2\n", BOTH).is_ok());
    let table = "a\n2\n-2\n".as_bytes();
    let table = ParameterTable::from_csv(table, "t.csv".as_ref(), &spec, &Limits::default()).unwrap();
    assert_eq!(table.row(1).unwrap().get(Parameter::Over), Some(&[0.0][..]));
    assert_eq!(table.cut(), 1);
}

#[test]
fn one_network_for_all_variables() {
    let shared = |features: &str| {
        spec(&format!("[predictor]\nshared = true\n[data]\nfile = \"t.csv\"\nfeatures = {features}\n"))
    };
    let text = "hour,temp_corn,temp_wheat,price_wheat,price_corn\n1,2,3,4,5\n";
    let spec = shared("[\"temp_{variable}\", \"hour\"]");
    let data = open(&spec, text, BOTH).unwrap();
    let columns = data.columns();
    assert_eq!(columns.feature_names, ["temp_wheat", "hour", "temp_corn"]);
    assert_eq!(columns.per_variable.as_deref(), Some(&[vec![0, 1], vec![2, 1]][..]));
    let uneven = "t_wheat_1,t_wheat_2,t_corn_1,price_wheat,price_corn\n1,2,3,4,5\n";
    let error = read(&shared("\"t_{variable}_*\""), uneven, BOTH).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.csv, line 1: the variable `corn` has 1 feature, but `wheat` has 2 features"
    );
    let error = read(&shared("\"t_{variable}\""), uneven, BOTH).unwrap_err();
    assert_eq!(error.to_string(), "t.csv, line 1: no column of the table fits `t_wheat`");
}

#[test]
fn booleans_in_text_are_numbers() {
    let text =
        "promo,holiday,day,price_wheat,price_corn\ntrue,False,mon,1,2\nFALSE,TRUE,tue,3,4\nNA,1,wed,5,6\n";
    let spec = spec("[data]\nfile = \"t.csv\"\nmissing = \"mean\"\n");
    let columns = open(&spec, text, BOTH).unwrap().columns().clone();
    assert_eq!(
        (columns.feature_names, columns.kinds),
        (
            vec!["promo".into(), "holiday".into(), "day".into()],
            vec![Kind::Number, Kind::Number, Kind::Category(Vec::new())]
        )
    );
    let chunk = read(&spec, text, BOTH).unwrap();
    assert_eq!(chunk.features[..6], [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert!(chunk.features[6].is_nan() && chunk.features[7..] == [1.0, 2.0]);
}

#[test]
fn other_separators_are_recognised() {
    for (text, told) in [
        ("id;temp;price_wheat;price_corn\na;1,5;1;2\n", "semicolons, and numbers have a decimal comma"),
        ("id;temp;price_wheat;price_corn\na;1.5;1;2\n", "semicolons"),
        ("id\ttemp\tprice_wheat\tprice_corn\na\t1.5\t1\t2\n", "tabs"),
    ] {
        let spec = spec("");
        assert!(open(&spec, text, BOTH).unwrap().remark().unwrap().ends_with(told));
        let chunk = read(&spec, text, BOTH).unwrap();
        assert_eq!((chunk.features, chunk.targets), (vec![0.0, 1.5], vec![1.0, 2.0]));
    }
    assert_eq!(open(&spec(""), "t,price_wheat,price_corn\n1,1,2\n", BOTH).unwrap().remark(), None);
    // What looks like a thousand is not guessed.
    let number = "[data]\nfile = \"t.csv\"\nkinds = { temp = \"number\" }\n";
    let (message, _) = error(number, "temp;price_wheat;price_corn\n1,5;1;2\n1.234,5;1;2\n");
    assert_eq!(message, "t.csv, line 3, column 1 (`temp`): `1.234,5` is not a number");
}

#[test]
fn series_and_times_come_with_the_rows() {
    let text = "day,shop,product,price_wheat,price_corn\n2020-01-01,a,1,1,2\n2020-01-02,b,1,1,2\n,b,2,1,2\n";
    let panel = spec("[data]\nfile = \"t.csv\"\nseries = [\"shop\", \"product\"]\ntime = \"day\"\n");
    let chunk = read(&panel, text, BOTH).unwrap();
    assert_eq!(chunk.series.unwrap(), ["a / 1", "b / 1"]);
    // A row without a time is none of a series.
    assert_eq!((chunk.times, chunk.dropped), (vec![18_262.0, 18_263.0], 1));
    let data = open(&panel, text, BOTH).unwrap();
    assert_eq!(data.columns().kinds[1..], [Kind::Category(Vec::new()), Kind::Category(Vec::new())]);
    // A time that is a number is a trend, which is for who asks.
    let numbered = spec("[data]\nfile = \"t.csv\"\ntime = \"week\"\n");
    let text = "week,temp,price_wheat,price_corn\n1,5,1,2\n";
    assert_eq!(open(&numbered, text, BOTH).unwrap().columns().feature_names, ["temp"]);
}

#[test]
fn columns_that_come_near_are_named_first() {
    let text = "a,b,c,d,e,f,g,h,prices_wheat,prices_corn\n1,1,1,1,1,1,1,1,2,3\n";
    let (message, hint) = error("", text);
    assert_eq!(message, "t.csv, line 1: no column of the table fits `price_*`");
    assert_eq!(
        hint,
        "`objective.linear` needs 2 columns here; did you mean `prices_*`? The table has: prices_wheat, prices_corn, a, b, c, \
         d, e, f, …"
    );
}

#[test]
fn history_for_checks() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "day,price_wheat,price_corn\n".to_owned();
    for i in 0..5000 {
        let corn = if i % 2 == 0 { "NA" } else { "1" };
        writeln!(table, "{i},{i},{corn}").unwrap();
    }
    std::fs::write(folder.path().join("h.csv"), table).unwrap();
    let read = |data: &str| {
        let text = format!(
            "[problem]\nvariables = [\"wheat\", \"corn\"]\n[objective]\nlinear = {{ predict = \"price_*\" }}\n{data}"
        );
        let spec = Spec::parse(text, folder.path().join("p.toml"), &Limits::default()).unwrap();
        let named = spec.history().map(std::path::Path::to_owned);
        (named, spec.read_history(1000))
    };
    assert!(matches!(read(""), (None, Ok(None))));
    let (path, table) = read("[data]\nfile = \"h.csv\"\nmissing = \"drop\"\n");
    let table = table.unwrap().unwrap();
    assert_eq!(path, Some(folder.path().join("h.csv")));
    assert_eq!((table.len(), table.line(0), table.line(999)), (1000, Some(3), Some(2001)));
    assert_eq!(table.row(999).unwrap().instance().theta, Some(&[1999.0, 1.0][..]));
    let (_, table) = read("[data]\ntrain = \"h.csv\"\nmissing = \"refuse\"\n");
    assert!(
        table
            .unwrap_err()
            .to_string()
            .ends_with("h.csv, line 2, column 3 (`price_corn`): `NA` is not a number")
    );
    let (_, table) = read("[data]\nfile = \"none.csv\"\n");
    assert!(table.unwrap_err().to_string().ends_with("none.csv: there is no such file"));
}

/// Forecasts are the truths plus a tenth, so that a row says whose they are.
#[test]
fn forecasts_that_a_pattern_finds_go_by_name() {
    let calls = "[problem]\nvariables = [\"m\", \"n\", \"e\"]\n[objective]\n\
        linear = { predict = [\"calls_morning\", \"calls_noon\", \"calls_evening\"] }\n\
        [bounds]\nupper = 1\n[predictor]\nkind = \"given\"\n";
    let with = |features: &str| {
        let text = format!("{calls}[data]\nfile = \"t.csv\"\n{features}\n");
        Spec::parse(text, "p.toml", &Limits::default()).unwrap()
    };
    let names = |features: &str, forecasts: [&str; 3]| -> Result<(Vec<String>, Vec<f64>)> {
        let text =
            format!("calls_noon,calls_evening,calls_morning,{}\n2,3,1,3.1,1.1,2.1\n", forecasts.join(","));
        let spec = with(features);
        let mut reader = open(&spec, &text, BOTH)?;
        let columns = reader.columns().feature_names.clone();
        let chunk = reader.next()?.unwrap();
        assert_eq!(chunk.targets, [1.0, 2.0, 3.0]);
        Ok((columns, chunk.features))
    };
    let tidy = ["forecast_evening", "forecast_morning", "forecast_noon"];
    for features in ["features = [\"forecast_*\"]", "features = [\"forecast_noon\", \"forecast_*\"]", ""] {
        assert_eq!(names(features, tidy).unwrap().1, [1.1, 2.1, 3.1], "{features}");
    }
    // What is their own may stand before what they share.
    let before = ["evening_forecast", "morning_forecast", "noon_forecast"];
    assert_eq!(names("features = [\"*_forecast\"]", before).unwrap().1, [1.1, 2.1, 3.1]);
    // A list is meant as it is written, whatever the names.
    let list = "features = [\"forecast_evening\", \"forecast_morning\", \"forecast_noon\"]";
    assert_eq!(names(list, tidy).unwrap().1, [3.1, 1.1, 2.1]);
    // Names that tell nothing.
    for features in ["features = [\"f?\"]", ""] {
        let refused = names(features, ["f3", "f1", "f2"]).unwrap_err();
        assert!(refused.to_string().contains("do not tell which target"), "{refused}");
        let hint = refused.hint.unwrap();
        assert!(hint.contains("f3 for calls_morning, f1 for calls_noon, f2 for calls_evening"), "{hint}");
    }
}

/// Columns of several scenarios stay together, each target's with its own.
#[test]
fn scenarios_that_a_pattern_finds_go_by_name() {
    let farm =
        format!("{FARM}[predictor]\nkind = \"given\"\n[data]\nfile = \"t.csv\"\nfeatures = [\"fc_*\"]\n");
    let spec = Spec::parse(farm, "p.toml", &Limits::default()).unwrap();
    let text = "fc_corn@0.1,fc_wheat@0.1,fc_corn@0.9,fc_wheat@0.9,price_corn,price_wheat\n1,2,3,4,5,6\n";
    let reader = open(&spec, text, BOTH).unwrap();
    let columns = reader.columns();
    assert_eq!(columns.target_names, ["price_wheat", "price_corn"]);
    assert_eq!(columns.feature_names, ["fc_wheat@0.1", "fc_wheat@0.9", "fc_corn@0.1", "fc_corn@0.9"]);
}
