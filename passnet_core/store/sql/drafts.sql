SELECT task_id, slot, saved_at FROM drafts
WHERE visitor = $visitor
QUALIFY row_number() OVER (PARTITION BY task_id, slot ORDER BY place DESC) = 1
ORDER BY place DESC
