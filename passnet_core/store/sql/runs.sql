WITH
-- include matching_runs
, chosen AS (
    SELECT * FROM matching_runs
    WHERE $after IS NULL OR (started_at, place) < (SELECT (started_at, place) FROM runs WHERE id = $after)
    ORDER BY started_at DESC, place DESC
    LIMIT $limit OFFSET $offset
),
-- the run before each one that was made here: of the same visitor, on the same tasks
earlier AS (
    SELECT id, lag(id) OVER (
        PARTITION BY visitor, CAST(json_extract(content, '$.task_ids') AS VARCHAR) ORDER BY started_at, place
    ) AS before_id
    FROM runs WHERE recorded = '' AND ($checks OR stage <> 'check')
),
linked AS (
    SELECT chosen.*, earlier.before_id FROM chosen LEFT JOIN earlier ON earlier.id = chosen.id
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
    FROM outcomes WHERE run_id IN (SELECT id FROM linked UNION SELECT before_id FROM linked) GROUP BY run_id
),
judged AS (
    SELECT run_id, list(task_id || chr(10) || subgraph_id ORDER BY place) AS subgraphs
    FROM jobs WHERE run_id IN (SELECT id FROM linked WHERE before_id IS NOT NULL UNION SELECT before_id FROM linked)
    GROUP BY run_id
)
SELECT linked.content, coalesce(verdicts.names, []), coalesce(verdicts.numbers, []), coalesce(whole.accepted, 0),
       coalesce(whole.device_name, ''), whole.median_speedup, linked.visitor,
       before.content, coalesce(whole_before.device_name, ''),
       judged.subgraphs IS NOT DISTINCT FROM judged_before.subgraphs
FROM linked
LEFT JOIN verdicts ON verdicts.run_id = linked.id
LEFT JOIN whole ON whole.run_id = linked.id
LEFT JOIN judged ON judged.run_id = linked.id
LEFT JOIN runs AS before ON before.id = linked.before_id
LEFT JOIN whole AS whole_before ON whole_before.run_id = linked.before_id
LEFT JOIN judged AS judged_before ON judged_before.run_id = linked.before_id
ORDER BY linked.started_at DESC, linked.place DESC
