"""The shape vocabulary shared by every folder."""

from jaxtyping import Array, Float, Inexact, PRNGKeyArray, PyTree


State = PyTree[Float[Array, "..."]]
Vector = Float[Array, " units"]
Input = Float[Array, " inputs"] | None
Inputs = Float[Array, "time inputs"]
Frame = Float[Array, "dimension columns"]
InputFrame = Float[Array, "inputs columns"]
Orbit = PyTree[Float[Array, "time ..."]]
Key = PRNGKeyArray
Scalar = float | int | Inexact[Array, ""]
