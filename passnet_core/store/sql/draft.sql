SELECT content FROM drafts WHERE task_id = $task_id AND slot = $slot ORDER BY place DESC LIMIT 1
