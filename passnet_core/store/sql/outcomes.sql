SELECT content FROM outcomes WHERE run_id = $run_id ORDER BY place
