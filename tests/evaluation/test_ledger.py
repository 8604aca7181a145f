import pytest

from glissando.errors import StorageError
from glissando.evaluation.ledger import Ledger, Point, open_storage

ENDS = {"a": (0.0, 1.0)}


def some(count, shift=0.0):
    return [Point({"a": i / 100 + shift}, float(i)) for i in range(count)]


@pytest.fixture(params=["sqlite", "journal"])
def url(request, tmp_path):
    return f"{request.param}:///{tmp_path}/study"


def test_what_is_written_is_read_back_in_order(url):
    Ledger(url, "one").write(some(5), ENDS, goal=10)
    assert Ledger(url, "one").points() == some(5)


def test_studies_of_other_names_do_not_mix(url):
    Ledger(url, "one").write(some(5), ENDS, goal=10)
    assert Ledger(url, "two").points() == []


def test_no_trial_is_written_beyond_the_goal(url):
    one, two = Ledger(url, "one"), Ledger(url, "one")
    one.write(some(4), ENDS, goal=6)
    two.write(some(4, 0.5), ENDS, goal=6)
    one.write(some(1, 0.9), ENDS, goal=6)
    assert one.points() == two.points() == some(4) + some(2, 0.5)


def test_every_worker_has_a_number_of_its_own_that_counts_as_no_trial(url):
    one, two = Ledger(url, "one"), Ledger(url, "one")
    assert one.join() == 0
    one.write(some(3), ENDS, goal=10)
    assert two.join() == 4
    assert len(two.points()) == 3


def test_memory_needs_no_storage():
    ledger = Ledger(None, "one")
    ledger.write(some(2), ENDS, goal=10)
    assert ledger.points() == some(2)


@pytest.mark.parametrize("url", ["mine.db", "redis://host", "sqlite:mine.db", "journal://", "sqlite:///", ""])
def test_an_unknown_storage_names_the_known(url):
    with pytest.raises(StorageError, match=r"sqlite:///FILE, journal:///FILE or postgresql"):
        open_storage(url)


@pytest.mark.parametrize("scheme", ["sqlite", "journal"])
def test_a_missing_directory_is_one_line(scheme, tmp_path):
    with pytest.raises(StorageError, match=r"no directory .*nowhere") as caught:
        open_storage(f"{scheme}:///{tmp_path}/nowhere/study")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_one_line(tmp_path):
    (tmp_path / "study").write_text("these are not the trials you are looking for" * 100)
    with pytest.raises(StorageError, match=r"cannot be reached: .*not a database") as caught:
        Ledger(f"sqlite:///{tmp_path}/study", "one")
    assert "\n" not in str(caught.value)


def test_a_server_that_does_not_answer_is_one_line_without_the_password():
    pytest.importorskip("psycopg")
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        Ledger("postgresql://me:secret@127.0.0.1:9/studies", "one")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "127.0.0.1:9/studies" in str(caught.value)


def test_a_postgresql_server_holds_a_study():
    pytest.importorskip("psycopg")
    from web.postgres import postgres_programs, running_postgres

    if postgres_programs() is None:
        pytest.skip("no PostgreSQL is installed")
    with running_postgres() as server:
        one, two = Ledger(server, "one"), Ledger(server, "one")
        assert (one.join(), two.join()) == (0, 1)
        one.write(some(4), ENDS, goal=6)
        two.write(some(4, 0.5), ENDS, goal=6)
        assert one.points() == two.points() == some(4) + some(2, 0.5)
