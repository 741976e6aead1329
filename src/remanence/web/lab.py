"""The lab's own two pages: the bench with its tabs, and the list of questions."""

import re
from typing import Any

from ..report.html import escape, page
from ..subjects import STUDIES


TABS = {
    "memorize": "Memorize",
    "dynamics": "Dynamics",
    "languages": "Languages",
    "checkup": "Checkup",
    "studies": "Studies",
}


def _range(
    name: str, label: str, low: float, high: float, step: float, value: float
) -> str:
    return (
        f'<label class="slider"><span>{escape(label)}</span>'
        f'<input type="range" id="{name}" min="{low}" max="{high}" step="{step}" value="{value}">'
        f'<output for="{name}"></output></label>'
    )


MEMORIZE = f"""
<p>Type a string. Each construction writes it into the weights of a network; pick one
and watch it remember, or shake it until it forgets.</p>
<form id="memorize-form" class="bar"><label>String
<input id="text" name="text" value="abracadabra" maxlength="60" autocomplete="off" spellcheck="false" required></label>
<button type="submit">Write it into weights</button></form>
<p id="memorize-status" class="soft" role="status"></p>
<div class="scroll" tabindex="0" role="region" aria-label="Networks for this string"><table id="frontier">
<thead><tr><th scope="col">construction</th><th scope="col">try it</th><th scope="col" class="number">dimension</th>
<th scope="col" class="number">exponent (nats/step)</th><th scope="col" class="number">margin</th>
<th scope="col">proof</th></tr></thead><tbody></tbody></table></div>
<section id="player" hidden aria-labelledby="player-title"><h3 id="player-title"></h3>
<div class="two"><div><svg id="orbit" class="plot" viewBox="-1.2 -1.2 2.4 2.4" role="img" aria-label="The state on its orbit"></svg>
<p id="orbit-note" class="small soft"></p></div><div>
<div class="bar"><button id="back" type="button">Step back</button><button id="play" type="button">Play</button>
<button id="step" type="button">Step</button><button id="restart" type="button">From the start</button></div>
{_range("noise", "noise per step", 0, 4, 0.02, 0)}
<p class="small soft">Noise is measured in margins: at 1, a typical kick is as long as the way to the nearest wrong reading. Rotations gather the kicks; tanh repairs them.</p>
<p id="said" class="said" aria-live="off" tabindex="0" aria-label="Symbols so far"></p>
<p id="score" role="status"></p>
<p><a id="weights" download>Download the weights (safetensors)</a></p></div></div></section>
"""

DYNAMICS = f"""
<p>A network of rotating pairs, coupled by tanh: radius and angle set its exponents, the
coupling disturbs them. Near radius 1 a weak coupling leaves it at the edge; at radius 0.5,
raise the coupling above 1.5 and feel it turn to chaos. Beyond radius 1 the state runs away.</p>
<div class="two"><form id="dynamics-form">
{_range("radius", "radius", 0.1, 1.2, 0.005, 0.95)}
{_range("angle", "angle (rad)", 0, 3.14, 0.01, 0.5)}
{_range("coupling", "coupling", 0, 4, 0.01, 0.1)}
<label class="slider"><span>units</span><select id="units"><option>2</option><option>4</option>
<option>8</option><option>16</option><option selected>32</option></select></label>
<p id="verdict" role="status"></p></form>
<div id="spectrum-plot"></div></div>
<div class="two"><div id="orbit-plot"></div><div id="growth-plot"></div></div>
"""

LANGUAGES = f"""
<p>Click the pairs of languages that are taught (rows: into, columns: from). All other
pairs become known exactly when the taught ones connect all languages.</p>
<div class="two"><div>
<div class="bar"><label>Languages <select id="count"><option>3</option><option selected>4</option>
<option>5</option><option>6</option><option>8</option></select></label>
<button id="chain" type="button">Chain</button><button id="only" type="button">Only themselves</button></div>
<div class="scroll" tabindex="0" role="region" aria-label="Taught pairs"><table id="pairs"></table></div>
{_range("scale", "initial size", 0.01, 0.5, 0.01, 0.1)}
<p id="connected" role="status"></p></div><div id="learning-plot"></div></div>
"""

CHECKUP = """
<p>Drop the weights of a trained RNN, LSTM or GRU (safetensors, torch's names). It is read,
measured on this machine, and not kept.</p>
<div id="drop" class="drop"><label>A safetensors file <input id="file" type="file" accept=".safetensors"></label>
<p class="soft small">or drop it here, together with its inputs if you like (.npy, .txt)</p></div>
<form id="checkup-form" class="bar"><label>What it hears <select id="hear"><option value="noise">white noise</option>
<option value="text">a text</option><option value="npy">an array (.npy)</option></select></label>
<label id="inputs-label" hidden>File of inputs <input id="inputs" type="file"></label>
<label>Steps <input id="steps" type="number" min="50" max="5000" value="500"></label>
<label class="tick"><input id="keep" type="checkbox"> Keep the page in the results folder</label>
<button id="examine" type="submit" disabled>Examine</button>
<button id="cancel-checkup" type="button" hidden>Cancel</button></form>
<label id="typed-label" class="typed" hidden>or type the text here
<textarea id="typed" rows="3" spellcheck="false"></textarea></label>
<p id="checkup-status" role="status"></p><div id="checkup-result"></div>
"""


def _studies() -> str:
    options = "".join(f"<option>{escape(name)}</option>" for name in STUDIES)
    return f"""
<p>Run a study and read its claims. It works in a process of its own; you may leave and
come back. Pages of finished studies: <a href="/results/index.html">the front page</a>.</p>
<form id="study-form" class="bar"><label>Study <select id="study">{options}</select></label>
<label>Profile <select id="profile"><option>quick</option><option>full</option></select></label>
<label>Seed <input id="seed" type="number" min="0" max="2147483647" value="0"></label>
<button type="submit">Run</button> <button id="cancel" type="button" disabled>Cancel</button></form>
<p id="job-state" role="status"></p><pre id="progress" tabindex="0" aria-label="Progress" hidden></pre>
<div id="stored"></div><div id="compare"></div>
"""


def lab_page() -> str:
    """The bench: five tabs, one shown at a time."""
    bodies = dict(
        zip(TABS, (MEMORIZE, DYNAMICS, LANGUAGES, CHECKUP, _studies()), strict=True)
    )
    tabs = "".join(
        f'<a role="tab" id="tab-{name}" href="#{name}" aria-controls="{name}">{words}</a>'
        for name, words in TABS.items()
    )
    panels = "".join(
        f'<section role="tabpanel" id="{name}" aria-labelledby="tab-{name}" hidden>'
        f"<h2>{TABS[name]}</h2>{body}</section>"
        for name, body in bodies.items()
    )
    return page(
        title="remanence: the lab",
        lead=f'<h1>The lab</h1><nav role="tablist" aria-label="Benches">{tabs}</nav>',
        body=f'<noscript>The lab needs scripts; the <a href="/results/index.html">results</a> do not.</noscript>{panels}'
        '<p class="small soft">Every question of this page can be asked by a program: '
        '<a href="/docs">the list of questions</a>.</p>',
        home="/",
        scripts='<link rel="stylesheet" href="/static/lab.css">'
        '<script type="module" src="/static/lab.js"></script>',
    )


def docs_page(schema: dict[str, Any]) -> str:
    """The OpenAPI document in words; the document itself is at /openapi.json."""
    rows = []
    for path, verbs in schema["paths"].items():
        for verb, said in verbs.items():
            given = [
                f"<code>{escape(p['name'])}</code> ({escape(p['in'])})"
                for p in said.get("parameters", ())
            ]
            body = (
                said.get("requestBody", {})
                .get("content", {})
                .get("application/json", {})
            )
            if "$ref" in body.get("schema", {}):
                name = body["schema"]["$ref"].rsplit("/", 1)[-1]
                fields = schema["components"]["schemas"][name]["properties"]
                given += [f"<code>{escape(field)}</code> (body)" for field in fields]
            codes = ", ".join(escape(code) for code in sorted(said["responses"]))
            what = re.sub(
                "`([^`]+)`", r"<code>\1</code>", escape(said.get("description", ""))
            )
            rows.append(
                f"<tr><td><code>{escape(verb.upper())}</code></td>"
                f"<td><code>{escape(path)}</code></td><td>{what}</td>"
                f"<td>{', '.join(given) or '–'}</td><td>{codes}</td></tr>"
            )
    heads = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("verb", "path", "what", "given", "answers")
    )
    return page(
        title="remanence: the lab's questions",
        lead="<h1>The lab's questions</h1><p>The same verbs as in Python. The machine-readable "
        'description is <a href="/openapi.json">openapi.json</a>.</p>',
        body='<h2>Questions</h2><div class="scroll" tabindex="0" role="region" '
        'aria-label="Questions"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>",
        home="/",
    )
