INSERT INTO jobs (run_id, place, job_digest, task_id, subgraph_id, subgraph_digest, dtype)
SELECT unnest($run_ids::VARCHAR[]), unnest($places::BIGINT[]), unnest($job_digests::VARCHAR[]), unnest($task_ids::VARCHAR[]),
       unnest($subgraph_ids::VARCHAR[]), unnest($subgraph_digests::VARCHAR[]), unnest($dtypes::VARCHAR[])
ON CONFLICT DO NOTHING
