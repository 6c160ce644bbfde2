"""Every example in a docstring runs, every public name has a docstring, and the stubs tell the truth."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import regretless

MODULES = [m.name for m in pkgutil.iter_modules(regretless.__path__) if not m.name.startswith("_")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    module = importlib.import_module(f"regretless.{name}")
    outcome = doctest.testmod(module)
    assert outcome.failed == 0
    assert name == "errors" or outcome.attempted > 0


def test_public_names_have_docstrings() -> None:
    bare = []
    for name in regretless.__all__:
        thing = getattr(regretless, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            bare += [] if thing.__doc__ else [name]
        if inspect.isclass(thing):
            public = [(k, v) for k, v in vars(thing).items() if not k.startswith("_")]
            bare += [
                f"{name}.{k}"
                for k, v in public
                if (inspect.isfunction(v) or isinstance(v, property)) and not inspect.getdoc(v)
            ]
    assert not bare


@pytest.mark.parametrize(
    "command", [["mypy.stubtest", "regretless._regretless"], ["mypy", "--strict", "-p", "regretless"]]
)
def test_types(command: list[str]) -> None:
    out = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr


ROOT = Path(__file__).parents[2]
#: Pages, and whether their shell commands are run, too.
PAGES = {
    "README.md": False,
    "docs/python.md": True,
    "docs/coming-from-cvxpylayers.md": False,
    "docs/coming-from-pyepo.md": False,
}


@pytest.mark.filterwarnings("ignore::regretless.RegretlessWarning")
@pytest.mark.parametrize("page", PAGES)
def test_pages_do_what_they_say(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "pyepo" in page:
        pytest.importorskip("pyepo")
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```(python|sh)\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    command = ROOT / "target" / "debug"
    for language, block, printed in blocks:
        if language == "sh":
            if PAGES[page]:
                if not (command / "regretless").exists():
                    pytest.skip("the command line is not built")
                subprocess.run(
                    block, shell=True, check=True, env=os.environ | {"PATH": f"{command}:{os.environ['PATH']}"}
                )
            continue
        names: dict[str, object] = {}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(block, names)
        # What is printed stands below.
        assert said.getvalue() in ("", printed)
        # `expression   # words → what it is`
        for expression, shown in re.findall(r"^(\S.*?)\s+#.* → (.*)$", block, re.MULTILINE):
            assert repr(eval(expression, names)) == shown


def test_version() -> None:
    cargo = (Path(__file__).parents[2] / "Cargo.toml").read_text()
    assert f'version = "{regretless.__version__}"' in cargo


def _pages() -> dict[Path, str]:
    """The pages of the repository, without their blocks of code."""
    root = Path(__file__).parents[2]
    found = [
        *root.glob("*.md"),
        *(page for part in ("docs", "examples", "bench") for page in (root / part).rglob("*.md")),
    ]
    return {page: re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL) for page in found}


def test_links_of_the_pages_lead_somewhere() -> None:
    pages = _pages()

    def anchors(text: str) -> set[str]:
        heads = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head) for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
        return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}

    lost = []
    for page, text in pages.items():
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            there = (page.parent / path).resolve() if path else page
            if link.startswith("http") or (there.exists() and (not anchor or there not in pages)):
                continue
            if not there.exists() or anchor not in anchors(pages[there]):
                lost.append(f"{page.name}: {link}")
    assert lost == []
