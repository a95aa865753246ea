SELECT visitor FROM runs WHERE id = $run_id
