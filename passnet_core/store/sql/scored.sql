-- rows are only added, never changed: so their number identifies what score_rows answers
SELECT count(*) FILTER (runs.visitor = ''), count(*) FILTER (runs.visitor <> '')
FROM outcomes JOIN runs ON runs.id = outcomes.run_id
WHERE outcomes.judged AND outcomes.stage = 'measure' AND outcomes.device = 'cuda'
  AND ($viewer IS NULL OR runs.visitor IN ('', $viewer))
