"""Every question of the OpenAPI document, asked with what it describes and what it does not.

The answers are held to the document: a status that it lists, JSON where it says so.
"""

import json
import urllib.parse

import pytest
from fuzzed import Counts, JSON
from hypothesis import given, HealthCheck, settings, strategies as st


EXAMPLES = 25
MANY = st.text(max_size=6) | st.sampled_from(
    ["", "0", "1", "-1", "1e400", "NaN", "<script>", "..%2f", "\u0000", "🧲", "9" * 40]
)


def resolved(schema, whole):
    while "$ref" in schema:
        schema = whole["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return schema


def described(schema, whole):
    """Values that a schema describes, as far as ours go."""
    schema = resolved(schema, whole)
    if "anyOf" in schema:
        return st.one_of([described(one, whole) for one in schema["anyOf"]])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    low, high = schema.get("minimum"), schema.get("maximum")
    match schema.get("type"):
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(low, high)
        case "number":
            least = schema.get("exclusiveMinimum", low)
            return st.floats(
                least, high, exclude_min="exclusiveMinimum" in schema, width=64
            ).filter(lambda x: x == x)
        case "string" if "pattern" in schema:
            return st.sampled_from(schema["pattern"].strip("^$()").split("|"))
        case "string":
            # Long strings are for the other tests: each costs seconds.
            return st.text("ab<", min_size=schema.get("minLength", 0), max_size=3)
        case "array":
            inner = described(schema["items"], whole)
            return st.lists(inner, min_size=schema.get("minItems", 0), max_size=3)
        case "object" if "properties" in schema:
            fields = {name: described(one, whole) for name, one in schema["properties"].items()}
            needed = schema.get("required", [])
            return st.fixed_dictionaries(
                {name: fields.pop(name) for name in needed}, optional=fields
            )
    return JSON


@pytest.fixture(scope="module")
def counts():
    return Counts("questions of the lab")


def operations():
    import pathlib

    from remanence.web.app import lab as application

    app = application(pathlib.Path("nowhere")).app
    whole = app.openapi()
    return [
        (verb, path, said, whole)
        for path, verbs in whole["paths"].items()
        for verb, said in verbs.items()
        if not path.endswith("/events")  # a stream ends with its job, not with an answer
    ]


OPERATIONS = operations()


@pytest.mark.parametrize("asked", OPERATIONS, ids=lambda o: f"{o[0]} {o[1]}")
def test_every_answer_is_one_that_the_document_lists(lab, counts, asked):
    verb, path, said, whole = asked
    body = said.get("requestBody", {}).get("content", {})

    @settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(data=st.data())
    def ask(data):
        at, query = path, {}
        for one in said.get("parameters", ()):
            good = described(one["schema"], whole).map(
                lambda v: json.dumps(v) if not isinstance(v, str) else v
            )
            value = data.draw(good | MANY, one["name"])
            if one["in"] == "path":
                at = at.replace(f"{{{one['name']}}}", urllib.parse.quote(value, "") or "x")
            elif one.get("required") or data.draw(st.booleans()):
                query[one["name"]] = value
        content, headers = None, {}
        if "application/json" in body:
            good = described(body["application/json"]["schema"], whole)
            content = json.dumps(data.draw(good | JSON, "body")).encode()
            headers["Content-Type"] = "application/json"
        elif body:
            content = data.draw(st.binary(max_size=64), "body")
        url = f"{at}?{urllib.parse.urlencode(query)}" if query else at
        status, answer = lab.ask(verb.upper(), url, content, headers)
        counts.add(status)
        listed = {int(code) for code in said["responses"]}
        # A path value with a slash or none at all is another path.
        assert status in listed | ({404, 405, 307} if "{" in path else set()), (url, answer)
        assert status == 503 or status < 500
        if status >= 400:
            assert "detail" in answer and "Traceback" not in str(answer)

    ask()


def test_the_lab_still_answers_and_both_outcomes_were_seen(lab, counts, capsys):
    seen = counts.done(capsys)
    assert lab.ask("GET", "/api/studies")[0] == 200
    assert seen[200] > 20 and seen[422] > 50 and sum(seen.values()) > 150
