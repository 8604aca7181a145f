"""The command line as a whole: help, bad input, what is loaded when, and what the base install needs."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import typer
from command import lines, refused, row, run

from glissando.cli import app

MODELS = {"numba", "onnxruntime", "wordfreq"}
OPTIONAL = {"torch", "safetensors", "optuna", "matplotlib", "onnx", "onnxscript", "huggingface_hub"}
OPTIONAL |= {"scipy", "flashlight", "fastapi", "uvicorn", "sqlalchemy", "psycopg", "segno"}


def commands(command=None, path=()):
    """Every command as the words that call it, groups too."""
    command = command or typer.main.get_command(app)
    yield path, command
    for name, child in sorted(getattr(command, "commands", {}).items()):
        yield from commands(child, (*path, name))


COMMANDS = list(commands())
LEAVES = [path for path, command in COMMANDS if not getattr(command, "commands", None)]


def python(code, *arguments, **environment):
    """Run code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=" ".join)
def test_every_command_has_help_with_examples_of_itself(path):
    result = run(*path, "--help")
    assert (result.code, result.err) == (0, "")
    text = " ".join(result.out.split())
    assert "Usage: " in text
    if path in LEAVES:
        assert f"glissando {' '.join(path)}" in text.split("Example", 1)[1]


def test_no_command_says_what_there_is():
    result = run()
    assert all(path[0] in result.out + result.err for path in LEAVES)


RUN_ALL = """
import json, sys
from glissando.cli import main
def run_all():
    for line in json.loads(sys.argv[1]):
        sys.argv = ["glissando", *line]
        try:
            main()
        except SystemExit as end:
            assert not end.code, (line, end.code)
"""


def test_help_loads_nothing_heavy():
    code = f"""{RUN_ALL}
print("rich.console" in sys.modules)
run_all()
print(sorted({{name.split(".")[0] for name in sys.modules}} & {MODELS | OPTIONAL!r}))
"""
    result = python(code, json.dumps([[*path, "--help"] for path, _ in COMMANDS]))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "False"
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_base_install_decodes_without_the_extras(tmp_path, swipes, words, tiny_weights):
    """Every optional dependency is made impossible to import, and the base commands still work."""
    code = f"""{RUN_ALL}
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL!r}:
            raise ImportError(f"{{name}} is blocked")
sys.meta_path.insert(0, Blocked())
run_all()
"""
    decode, weights = [str(swipes), "--lexicon", str(words)], ["--weights", str(tiny_weights)]
    calls = [
        ["decode", *decode, *weights, "-k", "2"],
        ["decode", *decode, "--method", "shark2", "-k", "1"],
        ["evaluate", *decode, *weights],
        ["layouts", "qwerty"],
        ["bench", "--swipes", *decode, *weights, "--json"],
        ["corpus", "stats", str(swipes)],
    ]
    result = python(code, json.dumps(calls))
    assert result.returncode == 0, result.stderr
    output = result.stdout.splitlines()
    assert all(1 <= len(line.split("\t")) <= 2 for line in output[:2])  # random weights may read other words
    assert output[2:4] == ["hello", "world"]


@pytest.mark.parametrize("arguments", ["layouts --json", "layouts qwerty"])  # more than a pipe holds, and less
def test_python_m_glissando_does_not_complain_if_its_reader_goes_away(arguments):
    script = f'"{sys.executable}" -m glissando {arguments} | head -c 9'
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (len(result.stdout.encode()), result.stderr) == (9, "")


@pytest.fixture
def swipes(corpus):
    return corpus([row("hello"), row("world")])


@pytest.fixture(
    params=["decode", "evaluate", "bench --swipes", "corpus stats", "corpus convert -o OUT", "corpus pack -o OUT"]
)
def reader(request, tmp_path, words, tiny_weights):
    """Calls a command that reads swipes, on a file of these bytes; gives the one line it answers with."""
    command = [str(tmp_path / "out" / "made") if word == "OUT" else word for word in request.param.split()]
    options = [] if command[0] == "corpus" else ["--lexicon", words, "--weights", tiny_weights]

    def read(data, name="swipes.jsonl"):
        file = tmp_path / name
        if data is not None:
            file.write_bytes(data)
        message = refused(*command, file, *options)
        assert str(file) in message
        assert not list(tmp_path.glob("out/*")), "something was half-written"
        return message

    return read


PACKED = gzip.compress(lines([row("hello")] * 400))
FLIPPED = PACKED[:99] + bytes([PACKED[99] ^ 255]) + PACKED[100:]
MILLION = b"[" + b"0," * 999_999 + b"0]"
ONE = lines([row("hello")])
FILES = {  # name, content, message
    "missing": ("missing.jsonl", None, "No such file"),
    "cut off": ("swipes.jsonl.gz", PACKED[: len(PACKED) // 2], "cut off"),
    "a flipped byte": ("swipes.jsonl.gz", FLIPPED, ""),
    "not JSON": ("swipes.jsonl", 6 * ONE + b'{"word": "hel\n' + ONE, "swipes.jsonl:7: not JSON"),
    "not an object": ("swipes.jsonl", ONE + b"[1, 2]\n", "swipes.jsonl:2: "),
    "not UTF-8": ("swipes.jsonl", ONE + b'{"word": "\xff"}\n', "swipes.jsonl:2: not UTF-8"),
    "a million points": (
        "swipes.jsonl",
        b'{"word": "hello", "x": %b, "y": %b, "t": %b, "layout": "qwerty"}' % (MILLION, MILLION, MILLION),
        "swipes.jsonl:1: 1,000,000 points; a swipe has at most",
    ),
    "a line without end": ("swipes.jsonl", b'{"x": [' + b"0.123456789," * 1_500_000, "longer than"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_read(reader, case):
    name, content, message = FILES[case]
    assert message in reader(content, name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [0.1, float("nan")], "y": [0, 0], "t": [0, 1]}, "NaN|nan|finite"),
        ({"x": [0.1, float("inf")], "y": [0, 0], "t": [0, 1]}, "inf|finite"),
        ({"x": [0.1, 0.2], "y": [0, 0], "t": [5, 1]}, "time runs backwards"),
        ({"x": [], "y": [], "t": []}, "point"),
        ({"x": [0.1], "y": [0, 0], "t": [5, 1]}, "[Ll]ength|differ|as many|x"),
        ({"x": "0.1"}, "list"),
        ({"x": [None]}, "x"),
    ],
    ids=["nan", "infinity", "backwards", "no point", "mismatch", "no list", "null"],
)
def test_swipes_that_cannot_be(reader, change, message):
    error = reader(lines([row("hello"), row("hello") | change]))
    assert "swipes.jsonl:2: " in error
    assert re.search(message, error)


def test_a_directory_instead_of_a_file(tmp_path, words, tiny_weights):
    for command in (["decode"], ["evaluate"], ["bench", "--swipes"]):
        message = refused(*command, tmp_path, "--lexicon", words, "--weights", tiny_weights)
        assert str(tmp_path) in message
        assert "directory" in message


@pytest.fixture(params=["decode", "evaluate", "bench --swipes"])
def decoder(request, swipes, words):
    """Calls a command that decodes, with further options; gives the one line it answers with."""

    def call(*options, lexicon=True):
        given = [] if not lexicon else ["--lexicon", words]
        return refused(*request.param.split(), swipes, *given, *options)

    return call


CUT = gzip.compress(b"hello 9\n" * 1000)[:50]
LEXICONS = {  # content, message
    "empty": (b"", "no words"),
    "blank": (b"\n\n", "no words"),
    "only a header": (b"dictionary=main:en,locale=en\n", "no words"),
    "no letters": (b"123 5\n", "no words"),
    "of another language": ("привет\n".encode(), ""),
    "cut off": (CUT, "gzip"),
    "not UTF-8": (b"caf\xe9\n", "UTF-8"),
    "missing": (None, "No such file"),
}


@pytest.mark.parametrize("case", LEXICONS)
@pytest.mark.parametrize("method", ["encoder", "shark2"])
def test_lexicons_that_cannot_be_used(swipes, tmp_path, tiny_weights, method, case):
    content, message = LEXICONS[case]
    file = tmp_path / "lexicon.gz" if content is CUT else tmp_path / "lexicon.txt"
    if content is not None:
        file.write_bytes(content)
    options = ["--weights", tiny_weights] if method == "encoder" else ["--method", method]
    for command in ("decode", "evaluate"):
        error = refused(command, swipes, "--lexicon", file, *options)
        assert file.name in error
        assert message in error


def test_unknown_language(decoder, tiny_weights):
    assert "language 'xx'" in decoder("--language", "xx", "--weights", tiny_weights, lexicon=False)


def test_unknown_layout(tmp_path, corpus, words, tiny_weights):
    file = corpus([row("hello"), row("hello") | {"layout": "qwertx"}])
    for command in ("decode", "evaluate"):
        message = refused(command, file, "--lexicon", words, "--weights", tiny_weights)
        assert "swipes.jsonl:2: no layout 'qwertx'; there are azerty" in message
    for command in (
        ["decode", file, "--layout", "qwertx"],
        ["bench", "--layout", "qwertx"],
        ["demo", "a", "--layout", "qwertx"],
    ):
        assert "no layout 'qwertx'" in refused(*command)
    assert "none" in refused("evaluate", file, "--layouts", tmp_path / "none")


def test_a_word_with_no_letter_to_type(corpus, words, tiny_weights):
    file = corpus([row("hello"), row("hello") | {"word": "42!"}])
    message = refused("evaluate", file, "--lexicon", words, "--weights", tiny_weights)
    assert "swipes.jsonl:2: the word '42!' has no letter that layout qwerty can type" in message


def test_nothing_left_to_evaluate(corpus, words):
    file = corpus([])
    assert "no swipe" in refused("evaluate", file, "--lexicon", words, "--method", "shark2")
    assert "no swipe" in refused("bench", "--swipes", file, "--lexicon", words)


def test_unknown_method_and_scoring(swipes, words, tmp_path, tiny_weights):
    for command in ("decode", "evaluate"):
        call = (command, swipes, "--lexicon", words, "--weights", tiny_weights)
        assert "no method 'magic'; there are auto, encoder, decoder, matcher, shark2" in refused(
            *call, "--method", "magic"
        )
        assert "no scoring 'magic'" in refused(*call, "--scoring", "magic")
        assert "No such file" in refused(*call, "--scoring", tmp_path / "none.json")
        for text, reason in (("{", "not JSON"), ('{"gamma": 1}', "'gamma'"), ('{"length_bonus": "x"}', "length_bonus")):
            (tmp_path / "bad.json").write_text(text)
            assert reason in refused(*call, "--scoring", tmp_path / "bad.json")


def test_damaged_weights(decoder, tmp_path, tiny_weights):
    damaged = tmp_path / "damaged.onnx"
    shutil.copy(tiny_weights.with_suffix(".json"), damaged.with_suffix(".json"))
    assert "No such file" in decoder("--weights", damaged)
    damaged.write_bytes(tiny_weights.read_bytes()[:-1])
    assert "SHA-256" in decoder("--weights", damaged)
    damaged.with_suffix(".json").write_text("{}")
    assert "no sha256" in decoder("--weights", damaged)
    damaged.with_suffix(".json").unlink()
    assert "damaged.json" in decoder("--weights", damaged)
    assert "no weights 'magic'" in decoder("--weights", "magic")


def test_corrupt_model_with_a_right_checksum(swipes, words, tmp_path, tiny_weights):
    from glissando.weights import write_card

    corrupt = tmp_path / "corrupt.onnx"
    for data in (b"", b"not a model", tiny_weights.read_bytes()[:2000]):
        corrupt.write_bytes(data)
        write_card(corrupt, {})
        assert "corrupt.onnx are not a model" in refused("decode", swipes, "--lexicon", words, "--weights", corrupt)
    # onnxruntime writes to the descriptor itself, past sys.stderr.
    code = "from glissando.cli import main; main()"
    result = python(code, "decode", swipes, "--lexicon", words, "--weights", corrupt)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.stderr


def test_bad_standard_input(words, tiny_weights):
    call = ("decode", "-", "--lexicon", words, "--weights", tiny_weights)
    assert refused(*call, stdin=b"{\n").startswith("standard input:1: not JSON")
    assert refused(*call, stdin=gzip.compress(b"{}")).startswith("standard input:1: not UTF-8")
    assert "longer than" in refused(*call, stdin=b"[" * (17 * 2**20))
    assert "standard input:1: layout must be text" in refused(*call, stdin=lines([row("hello") | {"layout": 5}]))


def test_bad_options_are_usage_errors():
    for arguments in (["decode"], ["nonsense"], ["decode", "x", "--beam", "0"], ["evaluate", "x", "--limit", "many"]):
        result = run(*arguments)
        assert result.code == 2
        assert "Traceback" not in result.err
