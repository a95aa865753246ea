SELECT run_id, note, starred FROM run_notes
WHERE visitor = $visitor AND ($run_id IS NULL OR run_id = $run_id) AND (note <> '' OR starred)
