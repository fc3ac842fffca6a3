"""A trained ranker and its file: one JSON document, nothing executable in it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot import __version__
from surefoot.errors import InputError
from surefoot.extras import require
from surefoot.io.atomic import atomic_open
from surefoot.learn.objectives import Objective

FORMAT = "surefoot-ranker/1"


@dataclass(slots=True, eq=False)
class Ranker:
    """A trained model of either booster.

    Parameters
    ----------
    booster : {"lightgbm", "xgboost"}
        Which library wrote `model`.
    model : str
        The booster's own text (LightGBM) or JSON (XGBoost) format.
    n_features : int
        Width of the training data.
    objective : Objective
        What was learned for.
    rounds : int
        Trees to use.
    card : mapping
        The risk profile against every baseline, as `surefoot train` prints it.
    """

    booster: str
    model: str = field(repr=False)
    n_features: int
    objective: Objective
    rounds: int
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _loaded: Any = field(default=None, repr=False)

    def predict(self, features: npt.ArrayLike, *, threads: int = 0) -> npt.NDArray[np.float64]:
        """Score of each document, higher is better."""
        matrix = np.asarray(features, dtype=np.float32)
        if matrix.ndim != 2 or matrix.shape[1] > self.n_features:
            raise InputError(
                f"the model knows {self.n_features} features, but the data have shape "
                f"{matrix.shape}"
            )
        if matrix.shape[1] < self.n_features:
            wide = np.zeros((matrix.shape[0], self.n_features), dtype=np.float32)
            wide[:, : matrix.shape[1]] = matrix
            matrix = wide
        if self.booster == "lightgbm":
            lightgbm = require("lightgbm", purpose="a LightGBM model")
            if self._loaded is None:
                self._loaded = lightgbm.Booster(model_str=self.model)
            return np.asarray(
                self._loaded.predict(matrix, num_iteration=self.rounds, num_threads=threads),
                dtype=np.float64,
            )
        xgboost = require("xgboost", purpose="an XGBoost model")
        if self._loaded is None:
            self._loaded = xgboost.Booster()
            self._loaded.load_model(bytearray(self.model.encode()))
        return np.asarray(
            self._loaded.predict(
                xgboost.DMatrix(matrix, nthread=threads or None),
                iteration_range=(0, self.rounds),
                output_margin=True,
            ),
            dtype=np.float64,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        document = {
            "format": FORMAT,
            "version": __version__,
            "booster": self.booster,
            "n_features": self.n_features,
            "rounds": self.rounds,
            "objective": self.objective.to_dict(),
            "card": dict(self.card),
            "model": self.model,
        }
        with atomic_open(path) as file:
            json.dump(document, file, indent=1)
            file.write("\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Ranker":
        """Read a model file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputError(f"{path} is not a ranker that surefoot wrote") from None
        try:
            document = json.loads(text)
            if document["format"] != FORMAT:
                raise InputError(
                    f"{path} has the format {document['format']!r}, but this version reads {FORMAT}"
                )
            if document["booster"] not in ("lightgbm", "xgboost"):
                raise InputError(f"{path} names an unknown booster {document['booster']!r}")
            return cls(
                document["booster"],
                document["model"],
                int(document["n_features"]),
                Objective.from_dict(document["objective"]),
                int(document["rounds"]),
                document["card"],
            )
        except (KeyError, TypeError, json.JSONDecodeError):
            raise InputError(
                f"{path} is not a ranker that surefoot wrote. Hint: surefoot train TRAIN -o MODEL"
            ) from None
