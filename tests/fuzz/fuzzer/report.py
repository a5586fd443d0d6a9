"""What a run has found: failures by cause, and how often what was drawn."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from .batch import Result
from .emit import script
from .shrink import Shrunk
from .sources import everything

LEAST_PART = 0.25
"""How many of the draws of each primitive have to apply."""
MIN_TRIES = 40
"""Draws of a primitive from which its share is looked at."""
LONG = 2000
"""Programs of a kind after which everything is to have been drawn."""
MAX_SEEDS = 40
"""Of so many failures that look alike the seeds are listed: wrong numbers of all causes do."""


class Report:
    """Collects the results of batches; scripts of failures go to a folder."""

    def __init__(self, kinds: Sequence[str], folder: Path):
        self.kinds, self.folder = kinds, folder
        self.programs: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.applied: Counter[str] = Counter()
        self.failures: dict[str, list[Result]] = {}
        self.scripts: dict[str, Path] = {}
        self.began = time.monotonic()
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @property
    def failed(self) -> bool:
        """Whether a program failed, or too few draws of a primitive applied."""
        return bool(self.failures or self.scarce() or self.missing())

    def take(self, found: list[Result] | Shrunk) -> Iterator[Result]:
        """Add results; yields the first failure of each cause, to be shrunk."""
        if isinstance(found, Shrunk):
            self._write(found)
            return
        for result in found:
            self.programs[result.request.what] += 1
            self.seconds[result.request.what] += result.seconds
            self.tried += result.tried
            self.applied += result.applied
            if result.failure is not None:
                known = self.failures.setdefault(result.failure.key, [])
                known.append(result)
                if len(known) == 1 and result.program is not None:
                    yield result

    def _write(self, found: Shrunk) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        request = found.request
        path = self.folder / f"{request.what}_{request.seed}.py"
        path.write_text(script(found))
        self.scripts[found.key] = path

    def scarce(self) -> list[str]:
        """Primitives of which too few draws applied."""
        return [
            name
            for name, tries in self.tried.items()
            if tries >= MIN_TRIES and self.applied[name] < LEAST_PART * tries
        ]

    def missing(self) -> list[str]:
        """Operators and primitives that long runs did not draw."""
        long = [kind for kind in self.kinds if self.programs[kind] >= LONG]
        return sorted(name for kind in long for name in everything(kind) if not self.tried[name])

    def summary(self) -> str:
        """How many programs and failures, in a few words."""
        return f"{self.programs.total()} programs, {len(self.failures)} causes of failure"

    def text(self, workers: int) -> str:
        """The whole report."""
        seconds = time.monotonic() - self.began
        programs = ", ".join(f"{n} {kind}" for kind, n in self.programs.items())
        rates = (f"{n / (self.seconds[k] or 1):.1f} of {k}" for k, n in self.programs.items())
        lines = [
            f"{programs} in {seconds:.0f} s on {workers} cores",
            f"programs for each second of a processor: {', '.join(rates)}",
            *self._coverage(),
        ]
        for key, results in sorted(self.failures.items(), key=lambda p: -len(p[1])):
            failure = results[0].failure
            message = failure.message.splitlines()[0][:200] if failure else ""
            lines.append(f"FAILED {len(results)} times: {key.split(':')[0]}: {message}")
            lines.append(f"       {self.scripts.get(key, 'no script')}")
            seeds = [f"{r.request.what} {r.request.seed}" for r in results[:MAX_SEEDS]]
            lines.append(f"       {', '.join(seeds)}")
        lines += [
            f"SCARCE {name}: {self.applied[name]} of {self.tried[name]}" for name in self.scarce()
        ]
        lines += [f"NOT DRAWN {name}" for name in self.missing()]
        return "\n".join(lines)

    def _coverage(self) -> list[str]:
        rows = [
            f"  {name:<34}{self.tried[name]:>8}{self.applied[name]:>8}"
            f"{100 * self.applied[name] // self.tried[name]:>5} %"
            for name in sorted(+self.tried)
        ]
        return [f"  {'':<34}{'tried':>8}{'applied':>8}", *rows]
