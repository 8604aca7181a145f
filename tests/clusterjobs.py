"""Work for a cluster in tests, which travels to the workers."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from glissando.errors import CorpusError


@dataclass(frozen=True)
class Numbers:
    """Gives the values of the rows of a block, and does what a row says: it fails, or it kills its worker."""

    folder: Path

    def start(self):
        def work(task, watch):
            values = []
            for number, row in watch.rows(task.content.objects()):
                if number in watch.deadly:
                    values.append("deadly")
                    continue
                if row.get("fail"):
                    raise CorpusError(f"row {number} fails")
                if row.get("kill") == "always" or (row.get("kill") == "once" and self._first(number)):
                    os.kill(os.getpid(), signal.SIGKILL)
                values.append(row["value"])
            return values

        return work

    def _first(self, number):
        """Whether this is the first attempt at a row."""
        flag = self.folder / f"tried-{number}"
        if flag.exists():
            return False
        flag.touch()
        return True


@dataclass(frozen=True)
class Unable:
    """Work that cannot be prepared."""

    def start(self):
        raise CorpusError("there is no keyboard")
