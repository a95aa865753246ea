INSERT INTO drafts (visitor, task_id, slot, saved_at, content, bytes)
VALUES ($visitor, $task_id, $slot, $saved_at, $content, strlen($content))
RETURNING place
