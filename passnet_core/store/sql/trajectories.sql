SELECT trajectories.content, trajectories.owner, endings.content, count(turns.number), max(turns.accepted),
       trajectories.visitor
FROM trajectories
LEFT JOIN endings ON endings.trajectory_id = trajectories.id
LEFT JOIN turns ON turns.trajectory_id = trajectories.id
WHERE $task_id IS NULL OR trajectories.task_id = $task_id
GROUP BY ALL
ORDER BY max(trajectories.started_at) DESC, max(trajectories.place) DESC
LIMIT $limit
