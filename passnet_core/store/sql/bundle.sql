SELECT content FROM bundles WHERE digest = $digest
