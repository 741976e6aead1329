"""What a checkup found: a verdict in one sentence, every figure, and the pictures."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..measure import FixedPoint, MemoryHorizon, Spectrum
from ..report import json_bytes, write_whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkup:
    """One network on one sequence: how long it remembers, and how that is known."""

    name: str
    network: str
    """What it is: kind, units, inputs, layers."""
    heard: str
    """What it was driven by."""
    quick: bool
    horizon: MemoryHorizon
    fixed: tuple[FixedPoint, ...]
    fixed_remark: str
    """Why there are no fixed points, where they were not looked for."""
    eigenvalues: np.ndarray
    """Of the Jacobian at the mean state and the mean input."""
    singular: Mapping[str, np.ndarray]
    """Singular values of every weight matrix, by name."""
    fourier: Mapping[str, np.ndarray]
    """Share of energy at each frequency along the rows of a weight matrix, by name."""
    orbit: np.ndarray
    """States visited, for the picture of the fixed points."""
    taken: str = ""
    """What of a file was taken for what, and what was not used."""

    @property
    def spectrum(self) -> Spectrum:
        """The exponents with their errors."""
        return self.horizon.spectrum

    @property
    def figures(self) -> dict[str, float | None]:
        """Every reported figure by name; None where it is not known."""
        panel, spectrum = self.horizon, self.spectrum
        proof, capacity = panel.certificate, panel.capacity
        fixed = [p for p in self.fixed if p.kind == "fixed"]
        searched = not self.fixed_remark
        return {
            "remembers": panel.remembers,
            "window": panel["window"],
            "certified_window": panel["certified window"],
            "half_life": panel["half-life"],
            "exponent_horizon": panel["exponent"],
            "largest_exponent": float(spectrum.exponents[0]),
            "largest_exponent_stderr": float(spectrum.stderr[0]),
            "capacity": panel["capacity"],
            "capacity_stderr": None if capacity is None else capacity.stderr,
            "contraction_rate": None if proof is None else float(proof.rate),
            "spectral_radius": float(np.abs(self.eigenvalues).max()),
            "kaplan_yorke": float(spectrum.kaplan_yorke),
            "entropy": float(spectrum.entropy),
            "fixed_points": float(len(fixed)) if searched else None,
            "stable_fixed_points": float(sum(p.stability == "stable" for p in fixed))
            if searched
            else None,
            "exponents": float(len(spectrum.exponents)),
            "state_dimension": float(spectrum.dimension),
        }

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        panel, error = self.horizon, self.horizon.error
        dead = bool(np.isneginf(self.spectrum.exponents[0]))
        window = panel["window"]
        brief = dead and not panel.remembers > 1
        if brief and window == 1:
            return "remembers nothing: one step forgets the whole state (every exponent is -inf)"
        # A saturated network has no slopes, and windows longer than any nilpotent's.
        switches = brief and window is not None and window > self.spectrum.dimension
        parts = [
            "remembers by switching, which no gradient sees"
            if switches
            else panel.gradients.sentence
        ]
        tried = panel.replay.longest
        if window is None or np.isinf(window):
            parts.append(
                f"no window up to {tried} keeps outputs within {error:g}, measured"
            )
        else:
            parts.append(
                f"a window of {window:.0f} keeps outputs within {error:g}, measured"
            )
        parts.append(self._proof())
        if dead:
            lost = (
                "no small difference lasts"
                if switches
                else "some steps forget the whole state"
            )
            parts.append(f"{lost} (every exponent is -inf)")
        elif self.spectrum.exponents[0] > 2 * self.spectrum.stderr[0]:
            parts.append("the largest exponent is positive: chaotic or unstable here")
        elif not self.spectrum.converged:
            parts.append("the exponents have not converged")
        return "; ".join(parts)

    def _proof(self) -> str:
        panel = self.horizon
        proved = panel["certified window"]
        if proved is not None:
            return f"a window of {proved:.0f} is proved to"
        if panel.certificate is None:
            return "no proof: none is known for this kind of cell"
        return f"no proof: contraction rate {panel.certificate.rate:.3g}"

    @property
    def summary(self) -> str:
        """The whole finding in plain text, the verdict first."""
        lines = [f"{self.name}: {self.verdict}.", "", f"network  {self.network}"]
        lines += [f"taken    {self.taken}"] if self.taken else []
        lines += [f"heard    {self.heard}", ""]
        lines += [
            f"{m.name:<17}{m.said:<17}{m.remark}".rstrip()
            for m in self.horizon.measures
        ]
        lines += ["", f"exponents        {self.spectrum.verdict}"]
        lines.append(f"fixed points     {self.fixed_sentence}")
        return "\n".join([*lines, "", *self.horizon.notes])

    @property
    def fixed_sentence(self) -> str:
        """What is known about fixed points, in a few words."""
        if self.fixed_remark:
            return self.fixed_remark
        if not self.fixed:
            return "none found from the states tried, at the mean input"
        kinds: dict[str, int] = {}
        for point in self.fixed:
            word = point.stability if point.kind == "fixed" else "slow"
            kinds[word] = kinds.get(word, 0) + 1
        counts = ", ".join(f"{count} {word}" for word, count in kinds.items())
        return f"{counts}, at the mean input"

    @property
    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        low, high = self.spectrum.confidence()
        level = self.horizon.gradients.plateau
        return {
            "name": self.name,
            "network": self.network,
            "taken": self.taken,
            "heard": self.heard,
            "quick": self.quick,
            "verdict": self.verdict,
            "figures": self.figures,
            "horizons": [dataclasses.asdict(m) for m in self.horizon.measures],
            "notes": list(self.horizon.notes),
            "spectrum": {
                "exponents": self.spectrum.exponents,
                "stderr": self.spectrum.stderr,
                "low_95": low,
                "high_95": high,
                "converged": self.spectrum.converged,
                "verdict": self.spectrum.verdict,
                "steps": self.spectrum.steps,
                "warmup": self.spectrum.warmup,
            },
            "gradient_decay": {
                f"quantile_{q}": self.horizon.gradients.quantile(q / 100)
                for q in (10, 50, 90)
            }
            | {"plateau": None if level is None else dataclasses.asdict(level)},
            "fixed_points": [
                {
                    "kind": p.kind,
                    "stability": p.stability,
                    "speed": p.speed,
                    "radius": p.radius,
                    "unstable": p.unstable,
                }
                for p in self.fixed
            ],
        }

    @property
    def json(self) -> str:
        """The document as JSON; what is not finite is written as a word."""
        return json_bytes(self.document).decode()

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the page (`.html`) or the figures (`.json`), whole or not at all."""
        path = pathlib.Path(path)
        if path.suffix == ".json":
            content = self.json.encode()
        elif path.suffix in (".html", ".htm"):
            from .page import checkup_page

            content = checkup_page((self,)).encode()
        else:
            raise ValueError(f"a checkup is saved as .html or .json, got {path.name!r}")
        write_whole(path, content)
        return path
