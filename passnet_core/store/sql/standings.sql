WITH seen AS (
    SELECT outcomes.* FROM outcomes JOIN runs ON runs.id = outcomes.run_id
    WHERE outcomes.judged AND ($viewer IS NULL OR runs.visitor IN ('', $viewer))
),
timed AS (
    SELECT * EXCLUDE (content) FROM seen
    -- beside which baseline passes were timed says nothing of their speedup over eager
    WHERE solver = 'passes' AND speedup IS NOT NULL OR baseline = 'inductor' AND baseline_speedup IS NOT NULL
),
-- the figures of a task are compared with each other: take all from the same conditions
grounds AS (
    SELECT task_id, device_name, capture, profile, clock_version FROM timed
    GROUP BY task_id, device_name, capture, profile, clock_version
    QUALIFY row_number() OVER (
        PARTITION BY task_id
        ORDER BY clock_version DESC, capture = 'direct' DESC, profile = 'strict' DESC,
                 count(DISTINCT subgraph_id) DESC, max(finished_at) DESC, device_name
    ) = 1
),
here AS (
    SELECT timed.*, runs.place AS run_place
    FROM timed
    JOIN grounds USING (task_id, device_name, capture, profile, clock_version)
    JOIN runs ON runs.id = timed.run_id
),
-- TorchInductor's own newest outcome; where there is none, the newest of passes that were timed beside it
inductor AS (
    SELECT * FROM here WHERE baseline = 'inductor' AND baseline_speedup IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY task_id, subgraph_id
        ORDER BY solver = 'inductor' DESC, finished_at DESC, run_place DESC, place DESC
    ) = 1
),
passes AS (
    SELECT * FROM here WHERE solver = 'passes' AND speedup IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY task_id, subgraph_id, bundle_digest
        ORDER BY finished_at DESC, run_place DESC, place DESC
    ) = 1
),
best AS (
    SELECT * FROM passes
    QUALIFY row_number() OVER (
        PARTITION BY task_id, subgraph_id ORDER BY speedup DESC, finished_at DESC, run_place DESC, place DESC
    ) = 1
),
counts AS (
    SELECT task_id, subgraph_id,
           count(*) FILTER (solver = 'passes' AND stage <> 'check') AS attempts,
           count(*) FILTER (solver = 'passes' AND stage <> 'check' AND accepted) AS right_ones
    FROM seen
    GROUP BY task_id, subgraph_id
)
SELECT counts.task_id, counts.subgraph_id, attempts, right_ones AS "right",
       [each for each in from_json(json_extract(told.content, '$.timings'),
                                   '[{"contender": "VARCHAR", "clock": "VARCHAR", "median": "DOUBLE"}]')
        if each.clock = 'end to end' AND each.contender = 'eager'][1].median AS eager_us,
       inductor.baseline_speedup AS inductor_speedup, inductor.run_id AS inductor_run_id,
       best.speedup AS best_speedup, best.run_id AS best_run_id,
       coalesce(nullif(bundles.author, ''), json_extract_string(runs.content, '$.label'), '') AS best_by,
       coalesce(told.device_name, '') AS device, told.capture, told.profile, told.clock_version
FROM counts
LEFT JOIN inductor USING (task_id, subgraph_id)
LEFT JOIN best USING (task_id, subgraph_id)
-- eager's time is that beside which TorchInductor was timed, or else the best passes
LEFT JOIN outcomes AS told ON told.run_id = coalesce(inductor.run_id, best.run_id)
    AND told.place = coalesce(inductor.place, best.place)
LEFT JOIN runs ON runs.id = best.run_id
LEFT JOIN bundles ON bundles.digest = best.bundle_digest
ORDER BY counts.task_id, counts.subgraph_id
