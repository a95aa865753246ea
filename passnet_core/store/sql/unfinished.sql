SELECT runs.id, runs.content, runs.owner, jobs.place, jobs.job_digest, jobs.task_id, jobs.subgraph_id,
       jobs.subgraph_digest, jobs.dtype
FROM jobs
JOIN runs ON runs.id = jobs.run_id
ANTI JOIN outcomes ON outcomes.run_id = jobs.run_id AND outcomes.place = jobs.place
WHERE $run_id IS NULL OR jobs.run_id = $run_id
ORDER BY runs.place, jobs.place
