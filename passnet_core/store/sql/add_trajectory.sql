INSERT OR IGNORE INTO trajectories (id, task_id, started_at, owner, content)
VALUES ($id, $task_id, $started_at, $owner, $content)
