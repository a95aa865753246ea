"""Between graphs as data and torch: names resolved to functions, patterns traced, bundles imported, modules built."""
