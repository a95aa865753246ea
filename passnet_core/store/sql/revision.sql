-- rows are only added, never changed: so their number identifies the state
SELECT (SELECT count(*) FROM outcomes) + (SELECT count(*) FROM runs) + (SELECT count(*) FROM bundles)
