-- the noise floor: by what share eager differed from itself; NULL in older rows
ALTER TABLE outcomes ADD COLUMN noise DOUBLE;
