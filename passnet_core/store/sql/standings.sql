WITH comparable AS (
    -- the best subgraph of a task is chosen among comparable times only: those of the newest clock version
    SELECT * FROM outcomes WHERE speedup IS NOT NULL
    QUALIFY clock_version = max(clock_version) OVER (PARTITION BY task_id, solver)
),
measured AS (
    SELECT task_id, subgraph_id, solver, speedup, run_id,
           row_number() OVER (
               PARTITION BY task_id, subgraph_id, solver
               -- a speedup under PassNet's rules counts only where there is no strict one
               ORDER BY profile = 'strict' DESC, speedup DESC NULLS LAST, finished_at DESC
           ) AS place
    FROM comparable
)
SELECT outcomes.task_id, outcomes.subgraph_id,
       count(*) FILTER (solver = 'passes' AND stage <> 'check') AS attempts,
       count(*) FILTER (solver = 'passes' AND stage <> 'check' AND accepted) AS right_ones,
       arg_max(baseline_speedup, (clock_version, finished_at)) FILTER (baseline = 'inductor') AS inductor_speedup,
       (SELECT speedup FROM measured WHERE measured.task_id = outcomes.task_id
          AND measured.subgraph_id = outcomes.subgraph_id AND solver = 'passes' AND place = 1) AS best_speedup,
       (SELECT run_id FROM measured WHERE measured.task_id = outcomes.task_id
          AND measured.subgraph_id = outcomes.subgraph_id AND solver = 'passes' AND place = 1) AS best_run_id
FROM outcomes
WHERE judged
GROUP BY outcomes.task_id, outcomes.subgraph_id
ORDER BY outcomes.task_id, outcomes.subgraph_id
