-- what was written stays as it is: so the number of its pieces tells states apart
SELECT (SELECT count(*) FROM outcomes) + (SELECT count(*) FROM runs) + (SELECT count(*) FROM bundles)
