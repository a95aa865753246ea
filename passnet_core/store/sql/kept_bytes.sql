WITH own AS (SELECT id, bundle_digest FROM runs WHERE visitor = $visitor),
judged AS (SELECT bytes, findings_digest FROM outcomes WHERE run_id IN (SELECT id FROM own))
SELECT coalesce(sum(bytes), 0)::BIGINT FROM (
    SELECT bytes FROM drafts WHERE visitor = $visitor
    UNION ALL
    SELECT bytes FROM bundles WHERE digest IN (
        SELECT unnest($digests::VARCHAR[]) UNION ALL SELECT bundle_digest FROM own
    )
    UNION ALL
    SELECT bytes FROM judged
    UNION ALL
    SELECT bytes FROM findings WHERE digest IN (SELECT findings_digest FROM judged)
)
