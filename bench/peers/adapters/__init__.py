"""The libraries by name. Nothing is imported before it is asked for: what one needs is no burden on another's memory."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Adapter


@dataclass(frozen=True)
class Entry:
    """A row of the tables: its label, whether it is a layer or a loss, and where it is."""

    label: str
    kind: str
    module: str
    adapter: str

    def load(self) -> type[Adapter]:
        adapter: type[Adapter] = getattr(import_module(f"{__name__}.{self.module}"), self.adapter)
        return adapter


PEERS: dict[str, Entry] = {
    "ours": Entry("**regretless** layer", "layer", "ours", "Layer"),
    "ours-exact": Entry("**regretless** layer, derivatives as they are", "layer", "ours", "ExactLayer"),
    "ours-spo": Entry("**regretless** spo+", "loss", "ours", "Loss"),
    "moreau-active": Entry("Moreau active set, ridge", "layer", "moreau", "ActiveSet"),
    "moreau-active-smoothed": Entry("Moreau active set, ridge, smoothed", "layer", "moreau", "SmoothedActiveSet"),
    "moreau-ipm": Entry("Moreau interior point, smoothed", "layer", "moreau", "InteriorPoint"),
    "proxsuite": Entry("ProxSuite QPLayer, ridge", "layer", "dense", "Proxsuite"),
    "qpth": Entry("qpth, ridge", "layer", "dense", "Qpth"),
    "cvxpylayers": Entry("cvxpylayers + diffcp", "layer", "layers", "Diffcp"),
    "cvxpylayers-ridge": Entry("cvxpylayers + diffcp, ridge", "layer", "layers", "DiffcpRidge"),
    "cvxpylayers-lpgd": Entry("cvxpylayers + diffcp, LPGD", "layer", "layers", "DiffcpLpgd"),
    "cvxpylayers-moreau": Entry("cvxpylayers + Moreau", "layer", "layers", "ThroughMoreau"),
    "highs": Entry("HiGHS in a loop, SPO+", "loss", "highs", "Highs"),
    "pyepo-gurobi": Entry("PyEPO SPO+, Gurobi", "loss", "epo", "Gurobi"),
    "pyepo-glop": Entry("PyEPO SPO+, GLOP", "loss", "epo", "Glop"),
    "pyepo-pfyl": Entry("PyEPO PFYL, Gurobi", "loss", "epo", "Perturbed"),
    "l2": Entry("two-stage L2 (no solver)", "loss", "plain", "Squared"),
}
#: Those that targets are for, and what else is ours.
HELD = ("ours", "ours-spo")
OURS = (*HELD, "ours-exact")
#: Trained for the regret column only.
BASELINES = ("l2",)
