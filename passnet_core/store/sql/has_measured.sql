SELECT 1 FROM outcomes JOIN runs ON runs.id = outcomes.run_id
WHERE runs.visitor = $visitor AND outcomes.stage = 'measure' LIMIT 1
