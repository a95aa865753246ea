INSERT INTO findings (digest, content, bytes)
SELECT digest, content, strlen(content) FROM (
    SELECT unnest($digests::VARCHAR[]) AS digest, unnest($contents::VARCHAR[]) AS content
)
ON CONFLICT DO NOTHING
