"""The documents tell the truth: their Python runs, their commands exist, their links lead somewhere."""

import gzip
import re
import shlex
from pathlib import Path

import pytest
import typer
from command import lines, row

from glissando.cli import app
from glissando.errors import MissingExtraError, WeightsError
from glissando.weights import packaged_weights

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NOT_RUN = "<!-- not run -->"
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?[^)]*\)|(?:src|href|srcset)=\"([^\"]+)\"")
SHELL = {"sh", "console", "bash", "shell"}

named = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(text, *languages):
    """(line number, code) of every fenced block in one of the languages that is not marked as not run."""
    for found in FENCE.finditer(text):
        before = text[: found.start()].rstrip().rsplit("\n", 1)[-1].strip()
        if found[2] in languages and before != NOT_RUN:
            indent = found[1]
            code = "".join(line.removeprefix(indent) for line in found[3].splitlines(keepends=True))
            yield text.count("\n", 0, found.start()) + 2, code


def shell_commands(text):
    """Every ``glissando`` command line of the shell blocks, as words; prompts and comments left out."""
    for _, code in blocks(text, *SHELL):
        for line in code.replace("\\\n", " ").splitlines():
            bare = line.strip().removeprefix("$ ")
            for part in re.split(r"\s*(?:\||&&|;)\s*", bare):
                words = shlex.split(part, comments=True) if part.startswith("glissando") else []
                if words and words[0] == "glissando":
                    yield words[1:]


def without_code(text):
    """The text without fenced blocks and code spans, where brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A working directory with the files that the documents take for granted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swipes.jsonl").write_bytes(lines([row("hello", key_dist_max=0.5), row("world", key_dist_max=0.5)]))
    (tmp_path / "swipes.jsonl.gz").write_bytes(gzip.compress((tmp_path / "swipes.jsonl").read_bytes()))
    (tmp_path / "mine.json").write_text('{"name": "mine", "rows": ["qwfpgjluy", "arstdhneio", "zxcvbkm"]}')
    (tmp_path / "words.txt").write_text("hello 9\nworld 8\n")
    return tmp_path


@named
@pytest.mark.usefixtures("desk")
def test_python_runs(document):
    """Blocks of one document share their names, in its order."""
    names = {"__name__": "document"}
    for number, code in blocks(document.read_text(encoding="utf-8"), "python", "py"):
        padded = "\n" * (number - 1) + code  # so that a traceback names the document's line
        try:
            exec(compile(padded, str(document), "exec"), names)
        except MissingExtraError as error:
            pytest.skip(str(error))
        except WeightsError as error:
            if packaged_weights():
                raise
            pytest.skip(f"no weights are packaged: {error}")


@named
def test_commands_exist(document):
    """Every command and option that a document names is one that the command line knows."""
    for words in shell_commands(document.read_text(encoding="utf-8")):
        command = typer.main.get_command(app)
        rest = list(words)
        while rest and getattr(command, "commands", None):
            if rest[0].startswith("--") and getattr(command, "invoke_without_command", False):
                break  # a group that is a command, too
            name = rest.pop(0)
            if name in ("--help", "-h"):
                break
            assert name in command.commands, f"{document.name}: no command {' '.join(words)!r}"
            command = command.commands[name]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for word in rest:
            if re.match(r"--?[a-zA-Z]", word):
                option = word.split("=")[0]
                assert option in known | {"--help"}, f"{document.name}: no option {option} in {' '.join(words)!r}"


@named
def test_links_lead_somewhere(document):
    """Links to files, and to headings of the same page."""
    text = document.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ +(.+?) *$", FENCE.sub("", text), re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for found in LINK.finditer(without_code(text)):
        target = found[1] or found[2]
        file = re.split("[#?]", target)[0]
        if target.startswith("#"):
            assert target[1:] in anchors, f"{document.name}: no heading for {target}"
        elif not re.match(r"[a-z][a-z0-9+.-]*:", target):
            assert (document.parent / file).exists(), f"{document.name}: nothing at {file}"


def test_the_documents_have_code_commands_and_links_to_check():
    text = "\n".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert min(len(list(blocks(text, "python"))), len(list(shell_commands(text))), len(LINK.findall(text))) >= 5


@named
def test_no_document_names_a_machine(document):
    found = re.findall(r"(?<![\w.])/(?:root|work|home|tmp)/\S*", document.read_text(encoding="utf-8"))
    assert not found
