from glissando.cluster.ledger import Ledger


def test_a_row_is_deadly_after_two_deaths():
    ledger = Ledger()
    assert ledger.begin("a") == (1, frozenset())  # this attempt dies somewhere
    for attempt in (2, 3):
        assert ledger.begin("a") == (attempt, frozenset())
        ledger.row("a", 1)
        ledger.row("a", 2)  # and these on row 2
    assert ledger.begin("a") == (4, frozenset({2}))
    ledger.row("a", 3)  # a death that came from outside
    assert ledger.begin("a") == (5, frozenset({2}))
    ledger.end("a")
    assert ledger.begin("a") == (1, frozenset())


def test_blocks_do_not_mix():
    ledger = Ledger()
    ledger.begin("a")
    ledger.row("a", 1)
    assert ledger.begin("b") == (1, frozenset())
    ledger.end("b")
    ledger.end("never begun")
    assert ledger.begin("a") == (2, frozenset())
