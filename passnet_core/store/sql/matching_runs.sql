matching_runs AS (
    SELECT id, started_at, place, visitor, content FROM runs
    WHERE ($visitor IS NULL OR visitor = $visitor)
      AND ($viewer IS NULL OR visitor IN ('', $viewer))
      AND ($solver IS NULL OR solver = $solver)
      AND ($checks OR stage <> 'check')
      AND ($task_id IS NULL OR id IN (SELECT run_id FROM jobs WHERE task_id = $task_id))
      AND (len($verdicts::VARCHAR[]) = 0
           OR id IN (SELECT run_id FROM outcomes WHERE list_contains($verdicts::VARCHAR[], verdict)))
      AND ($starred_by IS NULL OR id IN (SELECT run_id FROM run_notes WHERE visitor = $starred_by AND starred))
)
