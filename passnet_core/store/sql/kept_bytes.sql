SELECT coalesce(sum(bytes), 0)::BIGINT FROM (
    SELECT bytes FROM drafts WHERE visitor = $visitor
    UNION ALL
    SELECT bytes FROM bundles WHERE digest IN (
        SELECT unnest($digests::VARCHAR[]) UNION ALL SELECT bundle_digest FROM runs WHERE visitor = $visitor
    )
)
