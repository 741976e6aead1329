"""Made-up evidence for and against every claim: `CASES = {id: (for, against)}` a study."""
