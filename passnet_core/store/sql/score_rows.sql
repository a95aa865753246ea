SELECT * EXCLUDE (own_speedup, solving_baseline), own_speedup.low AS low, own_speedup.high AS high,
       solving_baseline AS baseline
FROM (
    SELECT outcomes.run_id, runs.recorded, outcomes.solver, outcomes.bundle_digest, coalesce(bundles.author, '') AS author,
           outcomes.task_id, outcomes.subgraph_id, outcomes.subgraph_digest, outcomes.dtype,
           outcomes.device_name AS device, outcomes.capture, outcomes.profile, outcomes.clock_version, outcomes.verdict,
           outcomes.error_class, outcomes.speedup, outcomes.correct_bits, outcomes.finished_at, outcomes.noise,
           -- with the 95% interval of the speedup
           [each for each in from_json(json_extract(outcomes.content, '$.speedups'),
                                       '[{"contender": "VARCHAR", "clock": "VARCHAR", "low": "DOUBLE", "high": "DOUBLE"}]')
            if each.clock = 'end to end' AND each.contender = outcomes.solver][1] AS own_speedup,
           -- beside which baseline passes were timed says nothing of their speedup over eager
           CASE WHEN outcomes.solver = 'inductor' THEN outcomes.baseline END AS solving_baseline
    FROM outcomes
    JOIN runs ON runs.id = outcomes.run_id
    LEFT JOIN bundles ON bundles.digest = outcomes.bundle_digest
    WHERE outcomes.judged AND outcomes.stage = 'measure' AND outcomes.device = 'cuda'
      -- only scored outcomes, and those that PassNet's protocol aborted, which may be asked to count
      AND (outcomes.speedup IS NOT NULL OR outcomes.error_class IS NOT NULL
           OR (outcomes.verdict = 'right, inconclusive' AND outcomes.profile = 'passnet'))
      AND ($task_id IS NULL OR outcomes.task_id = $task_id)
      AND ($viewer IS NULL OR runs.visitor IN ('', $viewer))
      AND NOT ($apart AND runs.visitor = '')
      AND NOT list_contains(CAST($left_out AS VARCHAR[]), outcomes.run_id)
    QUALIFY row_number() OVER (
        PARTITION BY outcomes.solver, outcomes.bundle_digest, solving_baseline, outcomes.task_id, outcomes.subgraph_id,
                     outcomes.subgraph_digest, outcomes.device_name, outcomes.capture, outcomes.profile,
                     outcomes.clock_version
        -- an inconclusive outcome must not replace an older one that is scored
        ORDER BY outcomes.verdict = 'right, inconclusive', outcomes.finished_at DESC, runs.place DESC,
                 outcomes.place DESC
    ) = 1
)
ORDER BY task_id, subgraph_id, solver, bundle_digest, baseline, device, capture, profile, clock_version
