-- the way in which an outcome's times were taken; older rows are of the first
ALTER TABLE outcomes ADD COLUMN clock_version INTEGER DEFAULT 1;
