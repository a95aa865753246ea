INSERT INTO runs (id, started_at, solver, bundle_digest, stage, recorded, owner, content)
VALUES ($id, $started_at, $solver, $bundle_digest, $stage, $recorded, $owner, $content)
ON CONFLICT DO NOTHING
