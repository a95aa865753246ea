SELECT trajectories.content, trajectories.owner, endings.content, coalesce(trajectories.visitor, '')
FROM trajectories
LEFT JOIN endings ON endings.trajectory_id = trajectories.id
WHERE trajectories.id = $trajectory_id
