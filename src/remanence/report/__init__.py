"""Claims, figures and pages."""

from .canonical_json import json_bytes as json_bytes
from .claims import (
    Claim as Claim,
    claim as claim,
    Evidence as Evidence,
    judge as judge,
    JudgedClaim as JudgedClaim,
    Verdict as Verdict,
)
from .cross_table import cross_table as cross_table, Row as Row
from .provenance import fingerprint as fingerprint, provenance as provenance
from .record import conclude as conclude, Record as Record, write_record as write_record
from .results_folder import (
    refuse_foreign_files as refuse_foreign_files,
    write_atomically as write_atomically,
)
from .results_index import write_results_index as write_results_index
from .stored_result import (
    DamagedResult as DamagedResult,
    read_result as read_result,
    StoredResult as StoredResult,
)
from .study import (
    Bench as Bench,
    Figure as Figure,
    Headline as Headline,
    Outcome as Outcome,
    Study as Study,
)
from .style import MARKS as MARKS, style as style
from .tables import read_data as read_data
