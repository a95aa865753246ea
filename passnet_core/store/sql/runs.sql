WITH chosen AS (
    SELECT id, started_at, place, visitor, content FROM runs
    WHERE ($visitor IS NULL OR visitor = $visitor)
      AND ($solver IS NULL OR solver = $solver)
      AND ($checks OR stage <> 'check')
      AND ($task_id IS NULL OR id IN (SELECT run_id FROM jobs WHERE task_id = $task_id))
    ORDER BY started_at DESC, place DESC
    LIMIT $limit
),
per_verdict AS (
    SELECT run_id, verdict, count(*) AS number FROM outcomes
    WHERE run_id IN (SELECT id FROM chosen) GROUP BY run_id, verdict
),
verdicts AS (
    SELECT run_id, list(verdict ORDER BY verdict) AS names, list(number ORDER BY verdict) AS numbers
    FROM per_verdict GROUP BY run_id
),
whole AS (
    SELECT run_id, count(*) FILTER (accepted) AS accepted, max(device_name) AS device_name,
           median(speedup) AS median_speedup
    FROM outcomes WHERE run_id IN (SELECT id FROM chosen) GROUP BY run_id
)
SELECT chosen.content, coalesce(verdicts.names, []), coalesce(verdicts.numbers, []), coalesce(whole.accepted, 0),
       coalesce(whole.device_name, ''), whole.median_speedup,
       chosen.visitor
FROM chosen
LEFT JOIN verdicts ON verdicts.run_id = chosen.id
LEFT JOIN whole ON whole.run_id = chosen.id
ORDER BY chosen.started_at DESC, chosen.place DESC
