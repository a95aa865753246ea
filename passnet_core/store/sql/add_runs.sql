INSERT INTO runs (id, started_at, solver, bundle_digest, stage, recorded, owner, visitor, content)
SELECT unnest($ids::VARCHAR[]), unnest($started_at::VARCHAR[]), unnest($solvers::VARCHAR[]), unnest($bundle_digests::VARCHAR[]),
       unnest($stages::VARCHAR[]), unnest($recorded::VARCHAR[]), $owner, $visitor, unnest($contents::VARCHAR[])
ON CONFLICT DO NOTHING
