"""JAX, imported here and handed on: the other files of this package take it from here."""

from typing import Any

from surefoot.extras import require

jax: Any = require("jax", purpose="an accelerator")
jnp: Any = require("jax.numpy", purpose="an accelerator")
lax: Any = jax.lax

Array = Any  # of JAX
