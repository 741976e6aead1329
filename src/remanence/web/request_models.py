"""What may be asked, field by field; anything else is refused before it is answered."""

from typing import Annotated, Any, Literal

from fastapi import HTTPException, Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..subjects import STUDIES
from .answers import Kind, LONGEST, METHODS


one_of = lambda words: f"^({'|'.join(words)})$"  # a pattern

Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]  # a job's
Method = Annotated[str, Query(pattern=one_of(METHODS))]
Text = Annotated[str, Query(min_length=1, max_length=LONGEST)]
Name = Annotated[str, Query(min_length=1, max_length=250)]
Error = Annotated[float, Query(ge=1e-9, le=1.0)]


class Strict(BaseModel):
    """A question; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Body(Strict):
    """A question in JSON, where `true` and "1" are no numbers."""

    @model_validator(mode="before")
    @classmethod
    def _numbers(cls, given: Any) -> Any:
        # Not `strict`: 7.0 is a whole number in JSON.
        for name, field in cls.model_fields.items() if isinstance(given, dict) else ():
            if field.annotation in (int, float) and isinstance(given.get(name), bool | str):
                raise ValueError(f"{name} must be a number")
        return given


class Memorize(Strict):
    """A string to be remembered."""

    text: str = Field(min_length=1, max_length=LONGEST)


class Windows(Body):
    """A drawn network, and the error that a window may make."""

    kind: Kind = "tanh"
    units: Literal[1, 4, 16, 64] = 16
    gain: float = Field(0.8, ge=0.0, le=4.0)
    seed: Seed = 0
    error: float = Field(1e-3, ge=1e-9, le=1.0)


class Reproduce(Body):
    """A study to be run."""

    study: str = Field(pattern=one_of(STUDIES))
    profile: Literal["quick", "full"] = "quick"
    seed: Seed = 0


class Checkup(Strict):
    """How an uploaded network is examined.

    The body is the weights file, `config.json` if the weights need one, and the inputs, if
    they are not noise; `weights` and `config` say how many bytes they are.
    """

    name: str = Field("model.safetensors", min_length=1, max_length=250)
    steps: int = Field(500, ge=50, le=5000)
    seed: Seed = 0
    source: Literal["noise", "text", "npy"] = "noise"
    weights: int | None = Field(None, ge=1, le=2**31 - 1)
    config: int = Field(0, ge=0, le=2**20)


Responses = dict[int | str, dict[str, Any]]
MALFORMED: Responses = {400: {"description": "Refused with a sentence"}}
GUARDED: Responses = {
    403: {"description": "From another page or by another name"},
    413: {"description": "Too large"},
}
SLOW: Responses = {429: {"description": "Too much at once"}, 503: {"description": "Took too long"}}
ABSENT: Responses = {404: {"description": "There is no such thing"}}
BUSY: Responses = {
    408: {"description": "The upload took too long"},
    409: {"description": "Something else is running"},
    429: {"description": "Too much at once"},
    507: {"description": "No room for the upload"},
}


def missing(what: str) -> HTTPException:
    """The answer to a question about something that is not there."""
    return HTTPException(404, f"there is no {what}")
