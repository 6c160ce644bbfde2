//! A folder of decisions: a file for each group of rows. What is there is not made again.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

use regretless_learn::{Content, Shard};
use regretless_project::Run;
use serde::{Deserialize, Serialize};

use super::Work;
use crate::args::{DecideArgs, Undecided};
use crate::error::CliError;
use crate::output::{count, json};
use crate::write::{KINDS, PART, Sink};

/// What the files in a folder are. Its name begins with `_`, so that who reads the folder as a table passes it over.
const ABOUT: &str = "_decide.json";

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct About {
    /// Version of regretless.
    version: String,
    /// Hash of the run's problem file and model.
    run: String,
    /// Hash of the table's length, beginning and end.
    features: String,
    shards: usize,
    files: String,
    predictions: bool,
    /// Hash of the history, where there is one beside the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<String>,
}

impl About {
    /// What these decisions have otherwise than those that are there.
    fn difference(&self, there: &Self) -> Option<String> {
        let Self { version, run, features, shards, files, predictions, history } = there;
        let what = if *version != self.version {
            format!("by version {version}")
        } else if *run != self.run {
            "by another model".into()
        } else if *features != self.features {
            "for other features".into()
        } else if *history != self.history {
            "with another history".into()
        } else if *shards != self.shards {
            format!("in {}", count(*shards, "shard"))
        } else if *files != self.files {
            format!("as {files}")
        } else if *predictions != self.predictions {
            format!("{} predictions", if *predictions { "with" } else { "without" })
        } else {
            return None;
        };
        Some(format!("the decisions in this folder were made {what}"))
    }
}

/// The folder that the options name, if they name one.
pub(super) fn wanted(args: &DecideArgs) -> Result<Option<&Path>, CliError> {
    let out = args.out.as_deref();
    let is_file =
        |path: &Path| path.extension().is_some_and(|ending| KINDS.iter().any(|kind| ending == *kind));
    let folder = out.filter(|path| path.extension().is_none() || path.is_dir() && !is_file(path));
    let needs = [("--shard", args.shard.is_some()), ("--max-minutes", args.max_minutes.is_some())];
    if let Some((option, _)) = needs.into_iter().find(|(_, given)| *given && folder.is_none()) {
        return Err(CliError::NeedsFolder { option });
    }
    Ok(folder)
}

/// Decides group by group; what there is to say besides, and whether the time was up before the end.
pub(super) fn decide(work: &mut Work<'_>, dir: &Path, run: &Run) -> Result<(String, bool), CliError> {
    let args = work.args;
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source| CliError::Write { path, source }
    };
    fs::create_dir_all(dir).map_err(failed(dir))?;
    let inputs: Result<Vec<String>, CliError> =
        args.inputs().map(|input| sample(input).map_err(failed(input))).collect();
    let about = About {
        version: env!("CARGO_PKG_VERSION").into(),
        run: run.content()?,
        features: inputs?.join(" "),
        shards: shard.of(),
        files: args.files.ending().into(),
        predictions: args.predictions,
        history: args.history.as_deref().map(sample).transpose().map_err(failed(dir))?,
    };
    settle(dir, &about)?;
    let ending = args.files.ending();
    let path = |group: usize| -> PathBuf {
        dir.join(format!("{PART}{group:06}-shard-{}-of-{}.{ending}", shard.index(), shard.of()))
    };
    let mut there = 0;
    let skipped = std::cell::RefCell::new(&mut there);
    let wanted = |group: usize| {
        let mine = shard.has(group);
        let done = mine && path(group).is_file();
        **skipped.borrow_mut() += usize::from(done);
        mine && !done
    };
    let begun = Instant::now();
    let late = || args.max_minutes.is_some_and(|minutes| begun.elapsed().as_secs_f64() > 60.0 * minutes);
    let (mut made, mut stopped) = (0, false);
    while let Some(group) = work.reader.next_group(&wanted)? {
        if made > 0 && late() {
            stopped = true;
            break;
        }
        made += 1;
        let whole = args.infeasible == Undecided::Fail;
        let mut sink = Sink::open(Some(&path(group)), whole, args.format, work.head, work.deciding.names())?;
        work.decide(&mut sink)?;
        sink.close()?;
    }
    let mut said = match there {
        0 => String::new(),
        files => format!("{} there already, not made again\n", count(files, "file")),
    };
    if stopped {
        let made = count(made, "file");
        let _ = writeln!(said, "the time is up: {made} made, and more to make; the same command goes on");
    }
    Ok((said, stopped))
}

/// Says in the folder what it holds; another folder's content is refused.
fn settle(dir: &Path, about: &About) -> Result<(), CliError> {
    let path = dir.join(ABOUT);
    let other = |what: String| CliError::OtherDecisions { path: dir.display().to_string(), what };
    if !path.is_file() {
        // Other shards may be beginning, too.
        let stranger = |name: &str| !name.starts_with(['_', '.']);
        let mut names = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
        if names.any(|name| stranger(&name.to_string_lossy())) {
            return Err(other("the folder is not empty, and no folder of decisions".into()));
        }
        regretless_learn::write_apart(&path, json(about).as_bytes())?;
    }
    let there: Option<About> = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(there) = there else { return Err(other(format!("{ABOUT} is damaged"))) };
    about.difference(&there).map_or(Ok(()), |what| Err(other(what)))
}

/// The hash of a file's length, beginning and end: a table of any length is told from another at once.
fn sample(path: &Path) -> std::io::Result<String> {
    const BYTES: u64 = 1 << 16;
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other(
            "a folder of decisions needs a table that can be read twice, and no pipe",
        ));
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut ends = Vec::new();
    file.by_ref().take(BYTES).read_to_end(&mut ends)?;
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
    file.take(BYTES).read_to_end(&mut ends)?;
    Ok(Content::default().spelled(&length).bytes(&ends).hash())
}
