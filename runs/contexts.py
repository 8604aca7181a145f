"""The packaged contexts: which words follow which, in English, German, French and Spanish.

    pip download --no-deps pocketsphinx && unzip pocketsphinx-*.whl
    python runs/contexts.py [--data DIR] [--sphinx pocketsphinx/model/en-us/en-us.lm.bin] [--write] [--held-out]

All four are counts of Tatoeba's sentences (CC BY 2.0 FR); English is mixed with the trigram that comes with
pocketsphinx (BSD-2-Clause), which is read here and needed nowhere else. --write puts them into the package, each with
a card beside it. --held-out counts all but every twentieth sentence and prints, for sentences of the rest, perplexity
and the accuracy of synthetic swipes. Cost: half a minute on one core; --held-out three minutes.
"""

import argparse
import gzip
import json
import os
import tempfile
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from glissando.context import BEGIN, MAX_WORDS, Context, load_context, split_sentences, split_words, write_context
from glissando.lexicon import typed_letters
from glissando.loading import load
from glissando.ngrams import BASE, Ngrams, count_text, estimate, find, pack, prune
from glissando.synth import swipe

ASSETS = Path(__file__).parents[1] / "src" / "glissando" / "assets" / "contexts"
SIZES = {"en": 6_050_000, "de": 3_000_000, "fr": 3_000_000, "es": 2_500_000}  # bytes
SPHINX_SHARE = 0.5  # of pocketsphinx's ratios in the English mixture, chosen on how_we_swipe_val
LAYOUTS = {"en": "qwerty", "de": "german", "fr": "azerty", "es": "spanish"}  # for synthetic swipes
NOISE = 1.5  # of synthetic swipes, sloppier than people are, or there would be nothing to correct
END = "</s>"
TATOEBA = {
    "name": "Tatoeba",
    "url": "https://tatoeba.org",
    "licence": "CC BY 2.0 FR",
    "attribution": "sentences by the contributors of tatoeba.org (pairs of manythings.org, May 2018); counts only",
}
SPHINX = {
    "name": "pocketsphinx 5.1.1, en-us.lm.bin",
    "url": "https://pypi.org/project/pocketsphinx",
    "licence": "BSD-2-Clause",
    "attribution": "Copyright (c) 1999-2016 Carnegie Mellon University",
}


@dataclass(frozen=True, eq=False)
class Trigram:
    """pocketsphinx's model: natural logarithms. Columns of pairs and triples are in the order of speech."""

    words: list[str]
    singles: np.ndarray  # [V, 2] probability and back-off
    pairs: np.ndarray  # [B, 2]
    pair_logs: np.ndarray  # [B, 2] probability and back-off
    triples: np.ndarray  # [T, 3]
    triple_logs: np.ndarray  # [T]


def read_sphinx(path: Path) -> Trigram:
    """Read a trie of CMU Sphinx: a word's entries are the words before it, last first, packed bit by bit."""
    data = path.read_bytes()
    if data[:20] != b"Trie Language Model\x03":
        raise SystemExit(f"{path} is not a trigram of CMU Sphinx")
    counts = np.frombuffer(data, "<u4", 3, 20).astype(int)
    tables = np.frombuffer(data, "<f4", 3 << 16, 36).reshape(3, 1 << 16)
    start = 36 + tables.nbytes
    kind = np.dtype([("log", "<f4"), ("backoff", "<f4"), ("next", "<u4")])
    singles = np.frombuffer(data, kind, counts[0] + 1, start)
    start += singles.nbytes
    word_bits, next_bits = int(counts[0]).bit_length(), int(counts[2]).bit_length()
    widths = word_bits + 32 + next_bits, word_bits + 16
    sizes = [((1 + int(count)) * width + 7) // 8 + 8 for count, width in zip(counts[1:], widths, strict=True)]
    second = np.frombuffer(data, np.uint8, sizes[0], start)
    third = np.frombuffer(data, np.uint8, sizes[1], start + sizes[0])
    # The counts at the head are a little too high.
    at = np.arange(int(singles["next"][-1]) + 1) * widths[0]
    before = _bits(second, at[:-1], word_bits)
    backoffs = tables[1][_bits(second, at[:-1] + word_bits, 16)]
    logs = tables[0][_bits(second, at[:-1] + word_bits + 16, 16)]
    nexts = _bits(second, at + word_bits + 32, next_bits)
    last = np.repeat(np.arange(counts[0]), np.diff(singles["next"].astype(int)))
    owner = np.repeat(np.arange(len(before)), np.diff(nexts))
    at = np.arange(int(nexts[-1])) * widths[1]
    unit = np.log(1.0001)  # the base of their logarithms
    return Trigram(
        data[start + sum(sizes) + 4 :].decode().split("\0")[:-1],
        np.column_stack([singles["log"], singles["backoff"]])[:-1] * unit,
        np.column_stack([before, last]),
        np.column_stack([logs, backoffs]) * unit,
        np.column_stack([_bits(third, at, word_bits), before[owner], last[owner]]),
        tables[2][_bits(third, at + word_bits, 16)] * unit,
    )


def as_ngrams(model: Trigram) -> Ngrams:
    """Ratios of a trigram, given that the sentence goes on; only words that we count as words."""
    number = {word: index for index, word in enumerate(model.words)}
    good = [word for word in model.words if word not in (BEGIN, END) and split_words(word) == [word]]
    good.sort(key=lambda word: -model.singles[number[word], 0])
    words = (BEGIN, *[word for word in good if not any(char.isdigit() for char in word)][: MAX_WORDS - 1])
    new = np.full(len(model.words), -1)
    new[[number[word] for word in words]] = np.arange(len(words))
    shares, backoffs = np.exp(model.singles[[number[word] for word in words]].T)
    goes_on = 1 - np.exp(model.singles[number[END], 0])
    shares = shares / goes_on
    shares[0] = np.exp(model.singles[number[END], 0]) / goes_on  # as many beginnings as ends
    # Probabilities given that another word follows: divide by what the end has.
    ends = np.full(len(model.words), np.nan)
    to_end = model.pairs[:, 1] == number[END]
    ends[model.pairs[to_end, 0]] = np.exp(model.pair_logs[to_end, 0])
    kept = (new[model.pairs] >= 0).all(1) & (model.pairs[:, 1] != number[BEGIN])
    end = np.where(np.isnan(ends), np.exp(model.singles[:, 1] + model.singles[number[END], 0]), ends)
    goes_on = np.clip(1 - end, 0.05, 1)[[number[word] for word in words]] / goes_on
    backoffs = backoffs / goes_on
    pairs = new[model.pairs[kept]]
    ratios = np.exp(model.pair_logs[kept, 0]) / shares[pairs[:, 1]] / (1 - end[model.pairs[kept, 0]]).clip(0.05)
    order = np.argsort(keys := pairs[:, 0] * BASE + pairs[:, 1])
    kept_triples = (new[model.triples] >= 0).all(1)
    triples = new[model.triples[kept_triples]]
    triple_keys = (triples[:, 0] * BASE + triples[:, 1]) * BASE + triples[:, 2]
    third = np.exp(model.triple_logs[kept_triples]) / shares[triples[:, 2]]
    third_order = np.argsort(triple_keys)
    pair_backoffs = np.exp(model.pair_logs[kept, 1])
    return Ngrams(
        words, shares, backoffs, keys[order], ratios[order], pair_backoffs[order], triple_keys[third_order],
        third[third_order],
    )  # fmt: skip


def mix(first: Ngrams, second: Ngrams, share: float) -> Ngrams:
    """Mix the probabilities of two models, ``share`` of the first; a context that one does not know is the other's."""
    weight = {word: share * mass for word, mass in zip(first.words, first.shares, strict=True)}
    for word, mass in zip(second.words, second.shares, strict=True):
        weight[word] = weight.get(word, 0.0) + (1 - share) * mass
    words = (BEGIN, *sorted(weight.keys() - {BEGIN}, key=lambda word: (-weight[word], word))[: MAX_WORDS - 1])
    shares = np.array([weight[word] for word in words])
    parts = [_renumbered(part, words) for part in (first, second)]
    known = [np.isfinite(part.backoffs) for part in parts]
    of_first = np.where(known[0] & known[1], share, known[0].astype(float))  # [V] by context
    pairs = np.unique(np.concatenate([part.pairs for part in parts]))
    triples = np.unique(np.concatenate([part.triples for part in parts]))
    triples = triples[find(pairs, triples // BASE)[1]]

    def mean(before: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
        return of_first[before] * np.nan_to_num(values[0]) + (1 - of_first[before]) * np.nan_to_num(values[1])

    def ratios(before: np.ndarray, word: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
        probabilities = [part.shares[word] * value for part, value in zip(parts, values, strict=True)]
        return np.maximum(mean(before, probabilities) / shares[word], 1e-6)

    backoffs = mean(np.arange(len(words)), [part.backoffs for part in parts])
    unseen = []
    for part in parts:  # the ratio of a word seen neither after the pair nor after its last word
        place, held = find(part.pairs, pairs)
        unseen.append(np.where(held, part.pair_backoffs[place], 1.0) * part.backoffs[pairs % BASE])
    return Ngrams(
        words, shares, backoffs, pairs,
        ratios(pairs // BASE, pairs % BASE, [part.after_one(pairs) for part in parts]),
        mean(pairs % BASE, unseen) / backoffs[pairs % BASE],
        triples, ratios(triples // BASE % BASE, triples % BASE, [part.after_two(triples) for part in parts]),
    )  # fmt: skip


def _renumbered(part: Ngrams, words: tuple[str, ...]) -> Ngrams:
    """The same model over other words; a context that it does not know has the back-off NaN."""
    number = {word: index for index, word in enumerate(words)}
    new = np.array([number.get(word, -1) for word in part.words])
    backoffs, shares = np.full(len(words), np.nan), np.zeros(len(words))
    backoffs[new[new >= 0]] = part.backoffs[new >= 0]
    shares[new[new >= 0]] = part.shares[new >= 0]
    columns = [part.triples // BASE**2, part.triples // BASE % BASE, part.triples % BASE]
    pairs, pair_order = _rekeyed([part.pairs // BASE, part.pairs % BASE], new)
    triples, order = _rekeyed(columns, new)
    return replace(
        part, words=words, shares=shares, backoffs=backoffs, pairs=pairs, pair_ratios=part.pair_ratios[pair_order],
        pair_backoffs=part.pair_backoffs[pair_order], triples=triples, triple_ratios=part.triple_ratios[order],
    )  # fmt: skip


def _rekeyed(columns: list[np.ndarray], new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New keys in ascending order, and where each was; those with a word that is gone are left out."""
    renumbered = [new[column] for column in columns]
    kept = np.flatnonzero(np.all([column >= 0 for column in renumbered], axis=0))
    keys = np.zeros(len(kept), np.int64)
    for column in renumbered:
        keys = keys * BASE + column[kept]
    order = np.argsort(keys)
    return keys[order], kept[order]


def _bits(data: np.ndarray, starts: np.ndarray, width: int) -> np.ndarray:
    """Numbers of ``width`` bits that begin at these bits, lowest first. Shape: [bytes], [n] -> [n]."""
    value = np.zeros(len(starts), np.uint64)
    for byte in range(8):
        value |= data[(starts >> 3) + byte].astype(np.uint64) << np.uint64(8 * byte)
    return ((value >> (starts & 7).astype(np.uint64)) & np.uint64((1 << width) - 1)).astype(np.int64)


def build(language: str, text: Path, sphinx: Path | None, share: float = SPHINX_SHARE) -> Context:
    """The context of one language."""
    counts = count_text([text], language)
    ngrams, sources = estimate(counts), [TATOEBA]
    if language == "en" and sphinx:
        ngrams, sources = mix(as_ngrams(read_sphinx(sphinx)), ngrams, share), [TATOEBA, SPHINX]
    header = {"language": language, "sources": sources, "sentences": int(counts.singles[0])}
    return pack(prune(ngrams, SIZES[language]), header)


def perplexity(context: Context, sentences: list[str]) -> tuple[float, float, int]:
    """Perplexity of words that the context knows: with it, by their frequency alone, and how many words those are.

    Frequencies are not in the file, so both are measured with the frequencies of the held-out sentences themselves:
    the ratio of the two is what context is worth.
    """
    numbers = [[0, *(context.numbers.get(word, -1) for word in words)] for words in _words(sentences, context.language)]
    singles = np.bincount([n for line in numbers for n in line if n > 0], minlength=len(context)).astype(float)
    shares = singles / singles.sum()
    gained, plain, count = 0.0, 0.0, 0
    everything = np.arange(len(context), dtype=np.int32)
    for line in numbers:
        for at in range(1, len(line)):
            if line[at] <= 0:
                continue
            gains = context.follow(tuple(line[:at] if at <= 3 else line[at - 2 : at])).gains(everything)
            gained += gains[line[at]] - np.log(shares @ np.exp(gains)) + np.log(shares[line[at]])
            plain += np.log(shares[line[at]])
            count += 1
    return float(np.exp(-gained / count)), float(np.exp(-plain / count)), count


def _words(sentences: list[str], language: str) -> list[list[str]]:
    pieces = [piece for sentence in sentences for piece in split_sentences(sentence)]
    return [words for piece in pieces if (words := split_words(piece, language))]


def held_out(language: str, text: Path, sphinx: Path | None) -> None:
    """Count all but every twentieth sentence; print perplexity and accuracy on the others."""
    with gzip.open(text, "rt", encoding="utf-8") as file:
        lines = list(file)
    with tempfile.TemporaryDirectory() as folder:
        rest = Path(folder) / "rest.txt"
        rest.write_text("".join(line for number, line in enumerate(lines) if number % 20), encoding="utf-8")
        context = build(language, rest, sphinx)
    with_it, without, words = perplexity(context, lines[::20][:500])
    print(f"{language}: perplexity {with_it:.1f} with context, {without:.1f} without, {words:,} words", flush=True)
    synthetic(context, lines[::20][500:800])


def synthetic(context: Context, sentences: list[str]) -> None:
    """Print top-1 of synthetic swipes for the words of sentences, without and with the true words before them."""
    keyboard = load(LAYOUTS[context.language], context.language, context=context)
    letters, rng = frozenset(keyboard.layout.letters), np.random.default_rng(0)
    known = frozenset(keyboard.lexicon.spell(letters))
    right, count = np.zeros(2), 0
    for words in _words(sentences, context.language):
        for at, word in enumerate(words):
            typed = "".join(typed_letters(word, letters))
            if len(typed) < 2 or typed not in known:
                continue
            finalists = keyboard.finalists(swipe(word, keyboard.layout, rng, NOISE))
            for way, before in enumerate((None, " ".join(words[:at]))):
                best = keyboard.choose(finalists, 1, before)
                right[way] += bool(best) and best[0].letters == typed
            count += 1
    alone, after = 100 * right / count
    print(
        f"{context.language}: synthetic swipes on {keyboard.layout.name}, {count:,} words: {alone:.1f} -> {after:.1f}"
    )


def write(language: str, context: Context) -> None:
    """Put a context and its card into the package."""
    ASSETS.mkdir(exist_ok=True)
    path = ASSETS / f"{language}.context"
    write_context(context, path)
    card = {**context.header, "made_by": "runs/contexts.py", "sha256": sha256(path.read_bytes()).hexdigest()}
    path.with_suffix(".json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GLISSANDO_DATA", "data")))
    parser.add_argument(
        "--sphinx", type=Path, help="pocketsphinx's en-us.lm.bin; English is made of Tatoeba without it"
    )
    parser.add_argument("--languages", nargs="*", default=list(SIZES))
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    for code in chosen.languages:
        source = chosen.data / "text" / f"{code}.txt.gz"
        if chosen.held_out:
            held_out(code, source, chosen.sphinx)
            continue
        made = build(code, source, chosen.sphinx)
        print(code, made.header["counts"], flush=True)
        if chosen.write:
            write(code, made)
            load_context(code)
