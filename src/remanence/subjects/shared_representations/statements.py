"""What the document says, in its order; rules and evidence are beside each claim."""

from . import (
    graph_claims,
    mask_claims,
    path_claims,
    spike_claims,
    theory_claims,
    toy_claims,
    wide_claims,
)


STATEMENTS = tuple(
    sorted(
        (
            *graph_claims.STATEMENTS,
            *wide_claims.STATEMENTS,
            *path_claims.STATEMENTS,
            *spike_claims.STATEMENTS,
            *mask_claims.STATEMENTS,
            *toy_claims.STATEMENTS,
            *theory_claims.STATEMENTS,
        ),
        key=lambda statement: int(statement.id.split(".")[1]),
    )
)
