INSERT INTO recorded_files (digest) VALUES ($digest) ON CONFLICT DO NOTHING
