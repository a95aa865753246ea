WITH seen AS (SELECT id FROM runs WHERE $viewer IS NULL OR visitor IN ('', $viewer))
-- rows are only added, never changed: so their number identifies the state
SELECT (SELECT count(*) FROM outcomes JOIN seen ON seen.id = outcomes.run_id) + (SELECT count(*) FROM seen)
       + CASE WHEN $viewer IS NULL THEN (SELECT count(*) FROM bundles) ELSE 0 END
