from web.donating import BAD, GOOD, HELLO, donation, open_secret

from glissando.web.codes import session_id
from glissando.web.overview import overview
from glissando.web.selection import Selection


def counts(rows):
    return [tuple(row) for row in rows]


def test_numbers_of_all_and_of_a_selection(store):
    store.remember([HELLO])
    one, two, gone = (open_secret(store) for _ in range(3))
    store.save(one, donation(0), GOOD)
    store.save(one, donation(1, "<b>world</b>", ()))
    store.save(two, donation(0, layout="dvorak", points=((0, 0, 0), (0, 0, 1000 / 60))), BAD)
    store.save(two, donation(1, "hello"))  # of an older server: not checked
    store.save(gone, donation(0), GOOD)
    store.withdraw(gone)
    seen = overview(store, Selection())
    assert seen["totals"] == {
        "donors": 2, "swipes": 3, "skipped": 1, "words": 1, "checked": 2, "right": 1, "flagged": 1, "withdrawn": 1,
    }  # fmt: skip
    assert set(counts(seen["groups"])) == {("qwerty", "en", 2, 1, 0, 2), ("dvorak", "en", 1, 0, 1, 1)}
    assert [row.swipes for row in seen["hours"]] == [4]
    found = {row.session: (row.swipes, row.skipped, row.flagged) for row in seen["donors"]}
    assert found == {session_id(one): (1, 1, 0), session_id(two): (2, 0, 1)}
    distances = {(bar["least"], bar["below"]): bar["swipes"] for bar in seen["key_distances"] if bar["swipes"]}
    assert distances == {(0.25, 0.5): 1, (3.0, None): 1}
    rates = {bar["least"]: bar["swipes"] for bar in seen["rates"] if bar["swipes"]}
    assert rates == {0: 2, 60: 1}
    assert len(seen["recent"]) == 3
    flagged = overview(store, Selection(flagged=True))
    assert (flagged["totals"]["swipes"], [row.word for row in flagged["recent"]]) == (1, ["Hello"])
    assert flagged["recent"][0].read == "zebra"


def test_an_empty_store(store):
    seen = overview(store, Selection())
    assert set(seen["totals"].values()) == {0}
    assert seen["groups"] == seen["hours"] == seen["donors"] == seen["recent"] == []
    assert {bar["swipes"] for bar in [*seen["rates"], *seen["key_distances"]]} == {0}
