"""The predictors; each maps features to a dict of predicted parameters."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from .problem import Array


def perceptron(sizes: list[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Plain(nn.Module):
    """A perceptron on standardised features; outputs are deviations from the training mean in training deviations."""

    def __init__(self, features: Array, targets: dict[str, Array], hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.centre, self.scale = (torch.as_tensor(v) for v in (features.mean(0), features.std(0) + 1e-9))
        self.targets = {k: (torch.as_tensor(v.mean(0)), torch.as_tensor(v.std(0))) for k, v in targets.items()}
        outputs = sum(mean.numel() for mean, _ in self.targets.values())
        self.inner = perceptron([features.shape[1], *hidden, outputs])

    def forward(self, features: Tensor) -> dict[str, Tensor]:
        out = self.inner((features - self.centre) / self.scale)
        sizes = [mean.numel() for mean, _ in self.targets.values()]
        parts = zip(self.targets.items(), out.split(sizes, dim=1))
        return {name: mean + scale * part.reshape(-1, *mean.shape) for (name, (mean, scale)), part in parts}


class Equities(nn.Module):
    """Each equity's return from its own features, the same perceptron for all; with ``risk`` also a Q from embeddings, one for all days."""

    def __init__(self, features: Array, n: int, risk: bool) -> None:
        super().__init__()
        flat = features.reshape(-1, features.shape[-1])
        self.centre, self.scale = (torch.as_tensor(v) for v in (flat.mean(0), flat.std(0) + 1e-9))
        self.inner = perceptron([features.shape[-1], 100, 100, 1])
        self.embedding = nn.Parameter(torch.randn(n, 32)) if risk else None

    def forward(self, features: Tensor) -> dict[str, Tensor]:
        out = self.inner((features - self.centre) / self.scale)
        predicted = {"theta": 0.05 * torch.tanh(out.squeeze(-1))}
        if self.embedding is not None:
            unit = nn.functional.normalize(self.embedding, dim=1)
            predicted["Q"] = 0.9 * unit @ unit.T + 0.1 * torch.eye(len(unit))
        return predicted
