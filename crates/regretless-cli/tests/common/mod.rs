//! A folder with files, and the command run in it.

use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder that is gone when the test is.
pub(crate) struct Folder(TempDir);

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path().join(name), content).unwrap();
        self
    }

    /// Runs `regretless` in the folder; arguments are cut at blanks.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        run_in(self.path(), arguments)
    }
}

/// Runs `regretless` in a folder; arguments are cut at blanks.
pub(crate) fn run_in(folder: &Path, arguments: &str) -> Ran {
    let mut command = Command::cargo_bin("regretless").unwrap();
    let output = command
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .env_remove("REGRETLESS_DATA")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs `regretless` at the root of the repository.
pub(crate) fn run(arguments: &str) -> Ran {
    run_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), arguments)
}
