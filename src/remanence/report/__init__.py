"""Claims, figures and pages."""

from .canonical_json import json_bytes
from .claims import Claim, Evidence, judge, JudgedClaim, Results, Verdict
from .pages import write_results_index
from .provenance import fingerprint, provenance
from .record import conclude, Record, write_record
from .stored_result import (
    DamagedResult,
    read_result,
    refuse_foreign_files,
    StoredResult,
    write_atomically,
)
from .study import Bench, Figure, figure, Headline, Outcome, Study
from .style import MARKS, style
from .tables import cross_table, read_data, Row
