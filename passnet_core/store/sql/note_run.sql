INSERT INTO run_notes (visitor, run_id, note) VALUES ($visitor, $run_id, $note)
ON CONFLICT (visitor, run_id) DO UPDATE SET note = excluded.note
