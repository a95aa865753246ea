SELECT outcomes.run_id FROM outcomes
JOIN runs ON runs.id = outcomes.run_id
WHERE outcomes.bundle_digest = $bundle_digest AND outcomes.subgraph_digest = $subgraph_digest AND outcomes.judged
  AND outcomes.stage <> 'check' AND outcomes.task_id = $task_id
  AND ($viewer IS NULL OR runs.visitor IN ('', $viewer))
-- what was timed says more, and what was judged here says it of this machine
ORDER BY outcomes.speedup IS NOT NULL DESC, runs.recorded = '' DESC, outcomes.finished_at DESC, runs.place DESC
LIMIT 1
