INSERT INTO bundles (digest, author, content, bytes)
SELECT digest, author, content, strlen(content) FROM (
    SELECT unnest($digests::VARCHAR[]) AS digest, unnest($authors::VARCHAR[]) AS author,
           unnest($contents::VARCHAR[]) AS content
)
ON CONFLICT DO NOTHING
