INSERT OR REPLACE INTO endings (trajectory_id, content) VALUES ($trajectory_id, $content)
