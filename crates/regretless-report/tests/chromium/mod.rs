//! A headless Chromium, found on this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A browser and a folder for its files and ours.
pub(crate) struct Chromium {
    program: PathBuf,
    pub(crate) dir: tempfile::TempDir,
}

impl Chromium {
    /// `CHROME`, or the first known name on the path. Without one: a failure where browsers are required (`CI` or
    /// `REGRETLESS_BROWSER=required`), otherwise nothing, said aloud.
    pub(crate) fn find() -> Option<Self> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let named = set("CHROME").map(PathBuf::from);
        let folders: Vec<PathBuf> =
            set("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
        let known = ["chromium", "chromium-browser", "google-chrome"];
        let on_path =
            || known.iter().flat_map(|n| folders.iter().map(move |f| f.join(n))).find(|p| p.is_file());
        let required = set("CI").is_some() || set("REGRETLESS_BROWSER").is_some_and(|v| v == "required");
        let Some(program) = named.or_else(on_path) else {
            assert!(
                !required,
                "no browser: install chromium, or name one in CHROME (looked for {known:?} on PATH)"
            );
            println!(
                "skipped: no chromium, chromium-browser or google-chrome on PATH, and CHROME is not set"
            );
            return None;
        };
        Some(Self { program, dir: tempfile::tempdir().expect("a temporary folder") })
    }

    /// Puts a page into the folder.
    pub(crate) fn page(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).expect("a file in a temporary folder");
        path
    }

    /// The document after it has been loaded and its scripts have run; fails on console messages.
    pub(crate) fn dom(&self, page: &Path, extra: &[&str]) -> String {
        let output = self.run(page, &[extra, &["--dump-dom"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = errors.lines().filter(|l| l.contains("CONSOLE")).collect();
        assert!(said.is_empty(), "the console is not silent: {said:#?}");
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(dom.contains("</html>"), "no document came back:\n{errors}");
        dom
    }

    /// What the browser wrote to its log, console messages among it.
    pub(crate) fn log(&self, page: &Path) -> String {
        String::from_utf8_lossy(&self.run(page, &["--dump-dom"]).stderr).into_owned()
    }

    /// A picture of a page, as the bytes of a PNG; kept in `REGRETLESS_SCREENSHOTS` where that is set.
    pub(crate) fn picture(
        &self,
        page: &Path,
        name: &str,
        (width, height): (u32, u32),
        extra: &[&str],
    ) -> Vec<u8> {
        let kept = std::env::var_os("REGRETLESS_SCREENSHOTS").map(PathBuf::from);
        let folder = kept.unwrap_or_else(|| self.dir.path().to_owned());
        std::fs::create_dir_all(&folder).expect("a folder for pictures");
        let file = folder.join(format!("{name}.png"));
        let (shot, size) =
            (format!("--screenshot={}", file.display()), format!("--window-size={width},{height}"));
        let output = self.run(page, &[extra, &[shot.as_str(), size.as_str()]].concat());
        std::fs::read(&file).unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&output.stderr)))
    }

    fn run(&self, page: &Path, extra: &[&str]) -> Output {
        Command::new(&self.program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .args([
                "--no-first-run",
                "--disable-extensions",
                "--allow-file-access-from-files",
                "--enable-logging=stderr",
            ])
            .args(["--virtual-time-budget=10000", "--host-resolver-rules=MAP * ~NOTFOUND"])
            .arg(format!("--user-data-dir={}", self.dir.path().join("profile").display()))
            .args(extra)
            .arg(format!("file://{}", page.display()))
            .output()
            .unwrap_or_else(|e| panic!("{} could not be started: {e}", self.program.display()))
    }
}
