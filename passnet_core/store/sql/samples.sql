SELECT coalesce(speedup, 'nan'::DOUBLE), correct_bits, coalesce(error_class, '') FROM outcomes
WHERE ($run_id IS NULL OR run_id = $run_id) AND judged AND stage = 'measure'
  AND (speedup IS NOT NULL OR error_class IS NOT NULL)
ORDER BY run_id, place
