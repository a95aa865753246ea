INSERT INTO outcomes (
    run_id, place, job_digest, environment_digest, solver, bundle_digest, task_id, subgraph_id, subgraph_digest, dtype,
    device, device_name, stage, capture, profile, clock_version, baseline, verdict, judged, accepted, error_class, speedup, baseline_speedup,
    noise, correct_bits, finished_at, findings_digest, content, bytes
)
SELECT
    unnest($run_id::VARCHAR[]), unnest($place::BIGINT[]), unnest($job_digest::VARCHAR[]), unnest($environment_digest::VARCHAR[]),
    unnest($solver::VARCHAR[]), unnest($bundle_digest::VARCHAR[]), unnest($task_id::VARCHAR[]),
    unnest($subgraph_id::VARCHAR[]), unnest($subgraph_digest::VARCHAR[]), unnest($dtype::VARCHAR[]),
    unnest($device::VARCHAR[]), unnest($device_name::VARCHAR[]), unnest($stage::VARCHAR[]),
    unnest($capture::VARCHAR[]), unnest($profile::VARCHAR[]), unnest($clock_version::INTEGER[]), unnest($baseline::VARCHAR[]), unnest($verdict::VARCHAR[]),
    unnest($judged::BOOLEAN[]), unnest($accepted::BOOLEAN[]), unnest($error_class::VARCHAR[]), unnest($speedup::DOUBLE[]),
    unnest($baseline_speedup::DOUBLE[]), unnest($noise::DOUBLE[]), unnest($correct_bits::INTEGER[]), unnest($finished_at::VARCHAR[]),
    unnest($findings_digest::VARCHAR[]), unnest($content::VARCHAR[]), unnest($bytes::BIGINT[])
ON CONFLICT DO NOTHING
