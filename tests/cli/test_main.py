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
from glissando.weights import packaged_weights

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
def test_every_command_has_help(path):
    result = run(*path, "--help")
    assert result.code == 0
    assert "Usage: " in result.out
    assert result.err == ""


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_shows_examples_of_itself(path):
    text = " ".join(run(*path, "--help").out.split())
    assert "Example" in text
    assert f"glissando {' '.join(path)}" in text.split("Example", 1)[1]


def test_no_command_says_what_there_is():
    result = run()
    assert all(path[0] in result.out + result.err for path in LEAVES)


def test_help_loads_nothing_heavy():
    code = """
import sys
from glissando.cli import app, main
print(sorted({name.split(".")[0] for name in sys.modules} & set(sys.argv[1].split(","))), "rich.console" in sys.modules)
for words in sys.argv[2:]:
    sys.argv = ["glissando", *words.split(), "--help"]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""
    code = code.replace("for words in sys.argv[2:]", "heavy = set(sys.argv[1].split(','))\nfor words in sys.argv[2:]")
    code += 'print(sorted({name.split(".")[0] for name in sys.modules} & heavy))\n'
    result = python(code, ",".join(MODELS | OPTIONAL), *(" ".join(path) for path, _ in COMMANDS))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "[] False"
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_base_install_decodes_without_the_extras(tmp_path, tiny_weights):
    """Every optional dependency is made impossible to import, and the base commands still work."""
    (tmp_path / "swipes.jsonl").write_bytes(lines([row("hello"), row("world")]))
    (tmp_path / "words.txt").write_text("hello 9\nworld 8\n")
    code = f"""
import json, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL!r}:
            raise ImportError(f"{{name}} is blocked")
sys.meta_path.insert(0, Blocked())
from glissando.cli import main
for line in json.loads(sys.argv[1]):
    sys.argv = ["glissando", *line]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (line, end.code)
"""
    decode = [str(tmp_path / "swipes.jsonl"), "--lexicon", str(tmp_path / "words.txt")]
    calls = [
        ["decode", *decode, "--weights", str(tiny_weights), "-k", "2"],
        ["decode", *decode, "--method", "shark2", "-k", "1"],
        ["evaluate", *decode, "--weights", str(tiny_weights)],
        ["layouts", "qwerty"],
        ["bench", "--swipes", *decode, "--weights", str(tiny_weights), "--json"],
        ["corpus", "stats", str(tmp_path / "swipes.jsonl")],
    ]
    result = python(code, json.dumps(calls))
    assert result.returncode == 0, result.stderr
    found = result.stdout.splitlines()
    assert [set(line.split("\t")) <= {"hello", "world"} for line in found[:2]] == [True, True]
    assert found[2:4] == ["hello", "world"]


def test_a_reader_that_goes_away_gets_no_complaints():
    glissando = shutil.which("glissando", path=os.path.dirname(sys.executable))
    if glissando is None:
        pytest.skip("the glissando script is not installed beside this Python")
    for arguments in ("layouts --json", "layouts qwerty"):  # more than a pipe holds, and less
        script = f'"{glissando}" {arguments} | true'
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        assert result.stderr == ""


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("hello 9\nworld 8\n")
    return file


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


def test_truncated_gzip(reader):
    packed = gzip.compress(lines([row("hello")] * 400))
    assert "cut off" in reader(packed[: len(packed) // 2], "swipes.jsonl.gz")


def test_gzip_with_a_flipped_byte(reader):
    packed = bytearray(gzip.compress(lines([row("hello"), row("world")])))
    packed[len(packed) // 2] ^= 255
    reader(bytes(packed), "swipes.jsonl.gz")


def test_invalid_json_on_line_7(reader):
    data = lines([row("hello")] * 6) + b'{"word": "hel\n' + lines([row("hello")])
    assert "swipes.jsonl:7: not JSON" in reader(data)


def test_a_line_that_is_no_object(reader):
    assert "swipes.jsonl:2: " in reader(lines([row("hello")]) + b"[1, 2]\n")


def test_not_utf8(reader):
    assert "swipes.jsonl:2: not UTF-8" in reader(lines([row("hello")]) + b'{"word": "\xff"}\n')


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
    found = reader(lines([row("hello"), row("hello") | change]))
    assert "swipes.jsonl:2: " in found
    assert re.search(message, found)


def test_a_million_points_are_refused(reader):
    million = b"[" + b"0," * 999_999 + b"0]"
    data = b'{"word": "hello", "x": %b, "y": %b, "t": %b, "layout": "qwerty"}' % (million, million, million)
    assert "swipes.jsonl:1: 1,000,000 points; a swipe has at most" in reader(data)


def test_a_line_without_end(reader):
    assert "longer than" in reader(b'{"x": [' + b"0.123456789," * 1_500_000)


def test_missing_file(reader):
    assert "No such file" in reader(None, "missing.jsonl")


def test_a_directory_instead_of_a_file(tmp_path, words, tiny_weights):
    for command in (["decode"], ["evaluate"], ["bench", "--swipes"]):
        message = refused(*command, tmp_path, "--lexicon", words, "--weights", tiny_weights)
        assert str(tmp_path) in message
        assert "directory" in message


@pytest.fixture
def swipes(tmp_path):
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(lines([row("hello"), row("world")]))
    return file


@pytest.fixture(params=["decode", "evaluate", "bench --swipes"])
def decoder(request, swipes, words):
    """Calls a command that decodes, with further options; gives the one line it answers with."""

    def call(*options, lexicon=True):
        given = [] if not lexicon else ["--lexicon", words]
        return refused(*request.param.split(), swipes, *given, *options)

    return call


@pytest.mark.parametrize("content", [b"", b"\n\n", b"dictionary=main:en,locale=en\n", b"123 5\n"])
def test_empty_lexicon(decoder, tmp_path, tiny_weights, content):
    file = tmp_path / "empty.txt"
    file.write_bytes(content)
    message = decoder("--lexicon", file, "--weights", tiny_weights, lexicon=False)
    assert "empty.txt" in message
    assert "no words" in message


def test_lexicon_that_cannot_be_typed(swipes, tmp_path, tiny_weights):
    file = tmp_path / "russian.txt"
    file.write_text("привет\n", encoding="utf-8")
    for method in (["--weights", tiny_weights], ["--method", "shark2"]):
        message = refused("decode", swipes, "--lexicon", file, *method)
        assert "russian.txt" in message


def test_missing_and_damaged_lexicon(decoder, tmp_path, tiny_weights):
    packed = gzip.compress(b"hello 9\n" * 1000)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9\n")
    for name, reason in (("none.txt", "No such file"), ("cut.gz", "gzip"), ("latin1.txt", "UTF-8"), ("", "directory")):
        message = decoder("--lexicon", tmp_path / name, "--weights", tiny_weights, lexicon=False)
        assert reason in message
        assert name in message


def test_unknown_language(decoder, tiny_weights):
    assert "language 'xx'" in decoder("--language", "xx", "--weights", tiny_weights, lexicon=False)


def test_unknown_layout(tmp_path, words, tiny_weights):
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(lines([row("hello"), row("hello") | {"layout": "qwertx"}]))
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


def test_a_word_with_no_letter_to_type(tmp_path, words, tiny_weights):
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(lines([row("hello"), row("hello") | {"word": "42!"}]))
    message = refused("evaluate", file, "--lexicon", words, "--weights", tiny_weights)
    assert "swipes.jsonl:2: the word '42!' has no letter that layout qwerty can type" in message


def test_nothing_left_to_evaluate(tmp_path, words):
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(b"")
    assert "no swipe" in refused("evaluate", file, "--lexicon", words, "--method", "shark2")
    assert "no swipe" in refused("bench", "--swipes", file, "--lexicon", words)


def test_unknown_method_and_scoring(swipes, words, tmp_path, tiny_weights):
    for command in ("decode", "evaluate"):
        call = (command, swipes, "--lexicon", words, "--weights", tiny_weights)
        assert "no method 'magic'; there are auto, encoder, decoder, shark2" in refused(*call, "--method", "magic")
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


@pytest.mark.skipif(bool(packaged_weights()), reason="weights are packaged")
def test_without_packaged_weights_the_error_says_so(swipes, words):
    assert "no weights 'encoder'; packaged are none" in refused("decode", swipes, "--lexicon", words)


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
