INSERT INTO bundles (digest, author, content) VALUES ($digest, $author, $content) ON CONFLICT DO NOTHING
