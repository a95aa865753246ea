WITH
-- include matching_runs
SELECT count(*) FROM matching_runs
