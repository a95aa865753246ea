INSERT INTO drafts (task_id, slot, saved_at, content) VALUES ($task_id, $slot, $saved_at, $content)
