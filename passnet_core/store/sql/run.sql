SELECT content FROM runs WHERE id = $run_id
