SELECT content FROM turns WHERE trajectory_id = $trajectory_id ORDER BY number
