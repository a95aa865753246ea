SELECT outcomes.content, findings.content FROM outcomes
JOIN runs ON runs.id = outcomes.run_id
LEFT JOIN findings ON findings.digest = outcomes.findings_digest
WHERE outcomes.job_digest = $job_digest AND outcomes.environment_digest = $environment_digest AND outcomes.judged
  -- outcomes recorded elsewhere are shown, but never reused
  AND runs.recorded = ''
ORDER BY outcomes.finished_at DESC, runs.place DESC
LIMIT 1
