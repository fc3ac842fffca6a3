"""Optional libraries: loaded on demand, with one line that names the extra to install."""

from importlib import import_module
from types import ModuleType

from surefoot.errors import MissingExtraError

# library -> the extra that brings it
EXTRA_OF = {
    "pandas": "frames",
    "polars": "frames",
    "pyarrow": "frames",
    "altair": "plot",
    "vl_convert": "plot",
    "h5py": "bayes",
    "nutpie": "bayes-check",
    "arviz": "bayes-check",
    "jax": "gpu",
    "lightgbm": "learn",
    "xgboost": "learn",
    "sqlalchemy": "active",
    "alembic": "active",
    "psycopg": "active",
    "dask": "dask",
    "distributed": "dask",
}


def require(module: str, *, purpose: str) -> ModuleType:
    """Import an optional library, or say which extra brings it.

    Parameters
    ----------
    module : str
        Dotted module name; its first part must be a key of `EXTRA_OF`.
    purpose : str
        What it is needed for, to begin the message with ("reading Parquet").
    """
    library = module.partition(".")[0]
    extra = EXTRA_OF[library]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        raise MissingExtraError(
            f"{purpose} needs {library}, which is not installed. "
            f"Hint: pip install 'surefoot[{extra}]'"
        ) from None
