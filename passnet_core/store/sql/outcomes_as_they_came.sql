SELECT outcomes.content, findings.content FROM outcomes
LEFT JOIN findings ON findings.digest = outcomes.findings_digest
WHERE outcomes.run_id = $run_id ORDER BY outcomes.rowid
