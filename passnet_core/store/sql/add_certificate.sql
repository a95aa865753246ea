INSERT INTO certificates (id, content) VALUES ($id, $content) ON CONFLICT DO NOTHING
