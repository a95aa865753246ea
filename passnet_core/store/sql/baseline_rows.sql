SELECT outcomes.run_id, runs.recorded, outcomes.task_id, outcomes.subgraph_id, outcomes.dtype, outcomes.device_name AS device,
       outcomes.capture, outcomes.clock_version, outcomes.finished_at, outcomes.noise,
       json_extract_string(outcomes.content, '$.speedups') AS speedups,
       -- drop the raw samples
       to_json(from_json(json_extract(outcomes.content, '$.timings'),
                         '[{"contender": "VARCHAR", "clock": "VARCHAR", "median": "DOUBLE"}]'))::VARCHAR AS times,
       outcomes.baseline
FROM outcomes
JOIN runs ON runs.id = outcomes.run_id
WHERE outcomes.judged AND outcomes.stage = 'measure' AND outcomes.device = 'cuda' AND outcomes.solver = 'inductor'
  AND outcomes.profile = 'strict' AND outcomes.speedup IS NOT NULL
  AND ($viewer IS NULL OR runs.visitor IN ('', $viewer))
QUALIFY row_number() OVER (
    PARTITION BY outcomes.task_id, outcomes.subgraph_id, outcomes.subgraph_digest, outcomes.device_name,
                 outcomes.capture, outcomes.clock_version, outcomes.baseline
    ORDER BY outcomes.finished_at DESC, runs.place DESC, outcomes.place DESC
) = 1
ORDER BY outcomes.device_name, outcomes.capture, outcomes.clock_version, outcomes.baseline,
         outcomes.task_id, outcomes.subgraph_id
