"""Claims, figures and pages."""

from .alone import page_alone as page_alone
from .claims import (
    Claim as Claim,
    Evidence as Evidence,
    judged as judged,
    JudgedClaim as JudgedClaim,
    Statement as Statement,
    Verdict as Verdict,
)
from .cross import cross_table as cross_table, Row as Row
from .front import write_front_page as write_front_page
from .plain import json_bytes as json_bytes
from .provenance import fingerprint as fingerprint, provenance as provenance
from .record import (
    concluded as concluded,
    read_data as read_data,
    Record as Record,
    write_record as write_record,
)
from .store import (
    Damaged as Damaged,
    refuse_strangers as refuse_strangers,
    Stored as Stored,
    stored as stored,
    write_whole as write_whole,
)
from .study import Bench as Bench, Figure as Figure, Outcome as Outcome, Study as Study
from .style import MARKS as MARKS, style as style
