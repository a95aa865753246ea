INSERT OR IGNORE INTO turns (trajectory_id, number, accepted, content)
VALUES ($trajectory_id, $number, $accepted, $content)
