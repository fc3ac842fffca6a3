"""The compiled module; its typed signatures are the functions of `surefoot.kernels`."""

from typing import Any

def __getattr__(name: str) -> Any: ...
