INSERT OR IGNORE INTO trajectories (id, task_id, started_at, owner, visitor, content)
VALUES ($id, $task_id, $started_at, $owner, $visitor, $content)
