import filecmp
from collections import Counter

import pytest
from command import lines, row

from glissando.cluster.corpus import Reading, count_files, pack_files
from glissando.cluster.stream import Run
from glissando.corpus.filters import Validity, keep_valid
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.pack import PackOptions, pack
from glissando.corpus.records import read_swipes
from glissando.corpus.stats import corpus_stats
from glissando.errors import CorpusError

READING = Reading(("glissando",), validity=Validity(), max_key_distance=2.0)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Swipes of some people on two layouts, two of which no filter lets pass."""
    path = tmp_path_factory.mktemp("corpus") / "swipes.jsonl"
    rows = [
        row(word, layout, session=person)
        for person, layout in (("ann", "qwerty"), ("bo", "dvorak"), (None, "qwerty"))
        for word in ("hello", "the", "world", "swipe")
    ]
    rows[3] = {**rows[3], "word": "quiz"}  # far from its keys
    rows[7] = {**rows[7], "x": rows[7]["x"][:3], "y": rows[7]["y"][:3], "t": rows[7]["t"][:3]}  # too few points
    path.write_bytes(lines(rows))
    return path


def test_the_figures_are_those_of_one_machine(cluster, corpus):
    assert count_files(Run(cluster, [str(corpus)], 3), Reading(("glissando",))) == corpus_stats(read_swipes(corpus))


def test_the_pack_has_the_same_bytes_and_a_second_start_goes_on(cluster, corpus, tmp_path):
    dropped: dict[str, int] = {}

    dropped = Counter()
    kept = keep_valid(
        read_swipes(corpus),
        dropped,
        LayoutShelf(),
        validity=READING.validity,
        max_key_distance=READING.max_key_distance,
    )
    report = pack(kept, tmp_path / "one", options=PackOptions(), dropped=dropped)
    assert report.rows == 10
    assert pack_files(Run(cluster, [str(corpus)], 3), READING, tmp_path / "many", PackOptions()) == report
    names = [path.name for path in (tmp_path / "one").iterdir()]
    assert filecmp.cmpfiles(tmp_path / "one", tmp_path / "many", names, shallow=False) == (names, [], [])
    assert not (tmp_path / "many.parts").exists()
    with pytest.raises(CorpusError, match="--overwrite replaces it"):
        pack_files(Run(cluster, [str(corpus)]), READING, tmp_path / "many", PackOptions())


def test_logs_without_a_row_for_each_swipe_are_refused(cluster, corpus):
    with pytest.raises(CorpusError, match="convert them first"):
        count_files(Run(cluster, [str(corpus)]), Reading(("how-we-swipe",)))
