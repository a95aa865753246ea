INSERT INTO run_notes (visitor, run_id, starred) VALUES ($visitor, $run_id, $starred)
ON CONFLICT (visitor, run_id) DO UPDATE SET starred = excluded.starred
