"""A PostgreSQL for the length of a test, from the system's packages, on a socket in a directory of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PORT = 54329  # names the socket's file; nothing listens on the network


def postgres_programs() -> Path | None:
    """Where initdb and pg_ctl are, or None."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return places[-1] if places and (places[-1] / "initdb").exists() else None


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a PostgreSQL and give its URL; it is removed afterwards."""
    programs = postgres_programs()
    assert programs is not None, "no PostgreSQL is installed"
    folder = tempfile.mkdtemp(prefix="glissando-pg-")
    # The server refuses to run as root.
    user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, "postgres", "postgres")
    data, options = f"{folder}/data", {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL, **user}
    try:
        subprocess.run([programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres"], **options)
        settings = f"-c listen_addresses='' -k {folder} -p {PORT} -c max_connections=120"
        subprocess.run(
            [programs / "pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start"], **options
        )
        try:
            yield f"postgresql://postgres@/postgres?host={folder}&port={PORT}"
        finally:
            subprocess.run([programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
