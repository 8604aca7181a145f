"""A server for tests: an app with random weights in this process, and stores of both kinds."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the web extra is not installed")

from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text
from web.postgres import postgres_programs, running_postgres
from web.serving import CONSENT, RUNTIME, chromium, npm_runtime, running_server

from glissando.web.app import create_app
from glissando.web.selection import Selection
from glissando.web.settings import Settings
from glissando.web.store import Store


@pytest.fixture(scope="session")
def settings(tiny_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a server with random weights; limits so high that only tests of limits meet them."""
    store = tmp_path_factory.mktemp("store") / "swipes.db"
    return Settings(
        store=f"sqlite:///{store}", weights=str(tiny_weights), token="a token for tests", consent=str(CONSENT),
        rate_decode=1e6, rate_swipes=1e6, rate_address=1e6,
    )  # fmt: skip


@pytest.fixture(scope="session")
def app(settings: Settings) -> FastAPI:
    """One app for all tests that only ask."""
    return create_app(settings)


@pytest.fixture(scope="session")
def client(app: FastAPI) -> Iterator[TestClient]:
    """A client that gets a 500 for a bug, as in real life."""
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def changed_client(settings: Settings, tmp_path: Path) -> Iterator[Callable[..., TestClient]]:
    """Makes a client of another app with an empty store and some settings changed."""
    with ExitStack() as stack:

        def make(**changes: object) -> TestClient:
            update = {"store": f"sqlite:///{tmp_path}/swipes.db", **changes}
            return stack.enter_context(TestClient(create_app(settings.model_copy(update=update))))

        yield make


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """A headless Chromium for the tests of one file."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def keyboard_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the packaged weights that reads the swipes of its pages."""
    options = ["--store", f"sqlite:///{tmp_path_factory.mktemp('site')}/swipes.db", "--consent", str(CONSENT)]
    with running_server(*options, "--token", "t", unlimited=True) as server:
        yield server.address


@pytest.fixture(scope="session")
def device_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose page reads swipes by itself."""
    runtime, store = npm_runtime(), tmp_path_factory.mktemp("site") / "swipes.db"
    with running_server("--store", f"sqlite:///{store}", runtime=runtime, unlimited=True) as server:
        yield server.address


@pytest.fixture(scope="session")
def collection_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The store of the site that collects."""
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('site')}/swipes.db")
    yield store
    store.close()


@pytest.fixture(scope="session")
def collection_site(collection_store: Store) -> Iterator[str]:
    """The address of a server that collects; its pages read swipes by themselves where the runtime is installed."""
    options = ["--store", str(collection_store.database.engine.url), "--consent", str(CONSENT)]
    runtime = RUNTIME if RUNTIME.is_dir() else "none"
    with running_server(*options, "--token", "t", runtime=runtime, unlimited=True) as server:
        yield server.address


@pytest.fixture
def given(collection_store: Store) -> Callable[[], list]:
    """Gives the rows of donors who came since the test began, in the order of their attempts."""
    before = {row.session for row in collection_store.rows(Selection(), skipped=True)}

    def rows() -> list:
        found = [row for row in collection_store.rows(Selection(), skipped=True) if row.session not in before]
        return sorted(found, key=lambda row: row.attempt)

    return rows


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a PostgreSQL that runs while the tests do."""
    if postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    with running_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty store, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/swipes.db"
    url = request.getfixturevalue("postgres")
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:  # remove what an earlier test left
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store, of each kind."""
    store = Store(store_url)
    yield store
    store.close()
