"""Claims, figures and pages."""

from .canonical_json import json_bytes as json_bytes
from .claims import (
    Claim as Claim,
    Evidence as Evidence,
    judge as judge,
    JudgedClaim as JudgedClaim,
    Verdict as Verdict,
)
from .pages import write_results_index as write_results_index
from .provenance import fingerprint as fingerprint, provenance as provenance
from .record import conclude as conclude, Record as Record, write_record as write_record
from .stored_result import (
    DamagedResult as DamagedResult,
    read_result as read_result,
    refuse_foreign_files as refuse_foreign_files,
    StoredResult as StoredResult,
    write_atomically as write_atomically,
)
from .study import (
    Bench as Bench,
    Figure as Figure,
    figure as figure,
    Headline as Headline,
    Outcome as Outcome,
    Study as Study,
)
from .style import MARKS as MARKS, style as style
from .tables import cross_table as cross_table, read_data as read_data, Row as Row
