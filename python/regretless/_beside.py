"""Forecasts made elsewhere, in a file or a frame: the format of ``regretless train --forecasts``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from . import _regretless
from ._frames import Cells, columns, distinct, header
from .errors import RegretlessError

#: What columns of forecasts are called in models, before their own names; the same on the command line.
FORECAST = "forecast of "


def beside(X: Any, forecasts: Any, error: type[RegretlessError]) -> Mapping[str, Cells]:
    """The columns of X, a frame if there is any, and behind them those of forecasts, a line for each of its rows in its order."""
    if isinstance(forecasts, (str, PathLike)):
        found = _regretless.read_table(fspath(forecasts))
    elif header(forecasts) is None:
        raise error("forecasts is a file or a frame, with columns called as what is predicted")
    else:
        distinct("forecasts", forecasts, error)
        found = columns(forecasts)
    if X is not None and header(X) is None:
        raise error(
            "X is no frame: beside forecasts its columns go by their names. Give None if there is nothing else to know"
        )
    if X is not None:
        distinct("X", X, error)
    own = [] if X is None else columns(X)
    rows = {len(cells) for _, cells in found}
    if own and rows != {len(own[0][1])}:
        raise error(f"X has {len(own[0][1])} rows, forecasts {max(rows, default=0)}")
    return dict(own) | {FORECAST + name: cells for name, cells in found}


def given_rows(X: Any, forecasts: Any, features: Sequence[str], error: type[RegretlessError]) -> Any:
    """What a model with these features decides for: X, and behind it forecasts where it takes some."""
    takes = any(name.startswith(FORECAST) for name in features)
    if forecasts is not None and not takes:
        raise error("the model was not trained with forecasts made elsewhere: leave `forecasts` out")
    if forecasts is not None:
        return beside(X, forecasts, error)
    if takes:
        raise error("the model decides for forecasts made elsewhere: give `forecasts`, a file or a frame")
    if X is None:
        raise error("X is missing: rows of features")
    return X
