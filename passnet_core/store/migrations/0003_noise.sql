-- by what share eager differed from itself; unknown for what was written before
ALTER TABLE outcomes ADD COLUMN noise DOUBLE;
