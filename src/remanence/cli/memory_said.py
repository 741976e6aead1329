"""What `remanence memorize` prints: one JSON document, or sentences and a table."""

from typing import Any


def say_memory(report: dict[str, Any], as_json: bool) -> None:
    """Print a memory written or checked, with its proof and its frontier."""
    from rich.table import Table

    from .table import console, print_json, visible

    if as_json:
        print_json(report)
        return
    out = console()
    verb = "verified from its file" if "file" in report else "written"
    units = "unit" if report["dimension"] == 1 else "units"
    out.print(
        visible(f"“{report['word']}” in {report['dimension']} {units} ({report['method']}), {verb}")
    )
    out.print(visible(report["certificate"]["sentence"]))
    if "file" in report:
        return
    out.print(
        visible(f"margin {report['margin']}, largest exponent {report['exponent']} nats/step")
    )
    least = report["minimal_dimension"]
    out.print(
        visible(
            f"no memory without feedback has fewer than {least['lower']} dimensions (proved)"
            + ("" if least["optimal"] else f"; at most {least['upper']} are needed")
        )
    )
    low, high = report["one_unit"]["least"]
    served = f"no |a| up to {low:.6g} serves, "
    if report["one_unit"]["attained"]:
        served = "a = 0 serves"
    elif report["one_unit"]["exact"]:
        served += "every |a| just above it does (exact)"
    else:
        served += f"{high:.6g} does"
    out.print(visible(f"one unit that hears itself, h' = a h + c: {served}"))
    if report["frontier"]:
        table = Table(box=None)
        names = list(report["frontier"][0])
        for name in names:
            table.add_column(name.replace("_", " "), no_wrap=name == "method")
        for row in report["frontier"]:
            table.add_row(*(visible(_short(row[name])) for name in names))
        out.print(table)
    for name in ("saved", "note", "figure"):
        if name in report:
            out.print(visible(f"{name}: {report[name]}"))


def _short(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
