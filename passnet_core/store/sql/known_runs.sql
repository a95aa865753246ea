SELECT id FROM runs WHERE id IN (SELECT unnest($ids::VARCHAR[]))
