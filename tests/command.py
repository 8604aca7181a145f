"""The command line as a user meets it: arguments in; exit code, output and errors out."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

import numpy as np

from glissando.cli import main
from glissando.layout import Layout, load_layout
from glissando.synth import swipe


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def run(*arguments, stdin=b"") -> Result:
    """Run ``glissando`` with these arguments in this process; an exception that escapes it is a bug and goes on."""
    out, err = io.StringIO(), io.StringIO()
    fake = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    code = 0
    argv = ["glissando", *map(str, arguments)]
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.object(sys, "argv", argv),
        mock.patch("sys.stdin", fake),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Result(code, out.getvalue(), err.getvalue())


def refused(*arguments, stdin=b"") -> str:
    """The one line that a command answers bad input with; anything else fails."""
    result = run(*arguments, stdin=stdin)
    assert result.code == 1, result
    assert result.err.startswith("glissando: "), result
    assert result.err.count("\n") == 1, result
    assert result.err.endswith("\n"), result
    return result.err.removeprefix("glissando: ").removesuffix("\n")


def row(word: str, on: str | Layout = "qwerty", **changes) -> dict:
    """One line of a corpus: an exact swipe of a word."""
    keys = load_layout(on)
    gesture = swipe(word, keys)
    columns = {name: np.round(getattr(gesture, name), 4).tolist() for name in ("x", "y", "t")}
    return {"word": word, **columns, "layout": keys.name} | changes


def lines(rows) -> bytes:
    """Rows as JSON lines."""
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in rows)
