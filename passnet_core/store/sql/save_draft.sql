INSERT INTO drafts (visitor, task_id, slot, saved_at, content)
VALUES ($visitor, $task_id, $slot, $saved_at, $content)
RETURNING place
