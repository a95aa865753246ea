SELECT place, saved_at, content FROM drafts
WHERE visitor = $visitor AND task_id = $task_id AND slot = $slot AND ($place IS NULL OR place = $place)
ORDER BY place DESC LIMIT 1
