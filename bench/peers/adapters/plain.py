"""Two-stage training, to see what decision losses are worth: no solver at all."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..problem import Job
from .base import Adapter, Tensors


class Squared(Adapter):
    settings = "mean squared error in training deviations: predict, then decide"

    def __init__(self, job: Job, threads: int) -> None:
        super().__init__(job, threads)
        some = job.truths(np.arange(min(job.rows, 200)))
        self.scales = {name: torch.as_tensor(some[name].std(0) + 1e-9) for name in job.predicts}

    def lose(self, predicted: Tensors, true: Tensors, ids: np.ndarray) -> Tensor:
        parts = [((predicted[k] - true[k]) / self.scales[k]).square().mean() for k in self.job.predicts]
        return torch.stack(parts).sum()
