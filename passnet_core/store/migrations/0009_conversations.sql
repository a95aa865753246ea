-- whose conversations they are; '' for those from before, of commands, and recorded ones
ALTER TABLE trajectories ADD COLUMN visitor VARCHAR DEFAULT '';
