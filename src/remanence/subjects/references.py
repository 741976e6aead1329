"""The papers and notes that the studies make executable, to be cited."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reference:
    """One paper, as people cite it."""

    key: str
    authors: str
    """In BibTeX's form, `Last, First and Last, First`; empty for unsigned notes."""
    year: int
    title: str
    venue: str
    arxiv: str = ""

    @property
    def name(self) -> str:
        """`Miller and Hardt (2019)`."""
        last = [person.split(",")[0] for person in self.authors.split(" and ")]
        if len(last) > 2:
            last = [f"{last[0]} et al."]
        return f"{' and '.join(last) or 'Notes'} ({self.year})"

    @property
    def text(self) -> str:
        """One line: name, title, venue, arXiv number."""
        number = f", arXiv:{self.arxiv}" if self.arxiv else ""
        return f"{self.name}, {self.title}, {self.venue}{number}"

    @property
    def bibtex(self) -> str:
        """An entry for a bibliography."""
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            "year": str(self.year),
            "howpublished": self.venue,
            "eprint": self.arxiv,
            "archiveprefix": "arXiv" if self.arxiv else "",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{{self.key},", *lines, "}"])


REFERENCES = {
    "memorization": Reference(
        key="notes2023memorization",
        authors="",
        year=2023,
        title="Update on RNN memorization",
        venue="unpublished notes, 20 November 2023",
    ),
    "fading-memory": Reference(
        key="dubinin2024fading",
        authors="Dubinin, Igor and Effenberger, Felix",
        year=2024,
        title="Fading memory as inductive bias in residual recurrent networks",
        venue="Neural Networks 173",
        arxiv="2307.14823",
    ),
    "modular-addition": Reference(
        key="rangamani2025modular",
        authors="Rangamani, Akshay",
        year=2025,
        title="Low rank and sparse Fourier structure in recurrent networks trained on "
        "modular addition",
        venue="ICASSP",
        arxiv="2503.22059",
    ),
    "shared-representations": Reference(
        key="saxe2022race",
        authors="Saxe, Andrew and Sodhani, Shagun and Lewallen, Sam Jay",
        year=2022,
        title="The neural race reduction: dynamics of abstraction in gated networks",
        venue="ICML (unpublished notes on shared representations build on it)",
        arxiv="2207.10430",
    ),
    "stable-recurrence": Reference(
        key="miller2019stable",
        authors="Miller, John and Hardt, Moritz",
        year=2019,
        title="Stable recurrent models",
        venue='ICLR (first called "When recurrent models don\'t need to be recurrent")',
        arxiv="1805.10369",
    ),
    "recurrent-language-models": Reference(
        key="halloran2024mamba",
        authors="Halloran, John T. and Gulati, Manbir and Roysdon, Paul F.",
        year=2024,
        title="Mamba state-space models are Lyapunov-stable learners",
        venue="arXiv",
        arxiv="2406.00209",
    ),
}
"""The reference of each study, by its name."""
