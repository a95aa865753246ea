INSERT INTO bundles (digest, author, content)
SELECT unnest($digests::VARCHAR[]), unnest($authors::VARCHAR[]), unnest($contents::VARCHAR[])
ON CONFLICT DO NOTHING
