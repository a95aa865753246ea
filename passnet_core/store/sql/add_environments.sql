INSERT INTO environments (digest, content)
SELECT DISTINCT unnest($digests::VARCHAR[]), unnest($contents::VARCHAR[])
ON CONFLICT DO NOTHING
