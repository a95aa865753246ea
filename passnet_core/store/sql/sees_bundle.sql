SELECT 1 FROM runs WHERE bundle_digest = $digest AND visitor IN ('', $viewer) LIMIT 1
