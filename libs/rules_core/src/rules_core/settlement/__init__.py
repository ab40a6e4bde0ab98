"""Settlement of a round's boxes (RULES.md sections 5 and 6; format in CONTRACTS.md section 1).

`case_json.parse_case` reads a case, `settle.settle` decides it, `result_json` writes the result. The other
modules hold one rule each and answer the same question for a running round as for a case.
"""
