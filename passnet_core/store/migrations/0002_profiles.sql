-- by whose rules an outcome was judged; what was written before says it inside its content, with an older name
ALTER TABLE outcomes ADD COLUMN profile VARCHAR DEFAULT 'strict';
UPDATE outcomes SET profile = 'passnet'
WHERE json_extract_string(content, '$.spec.profile') IN ('recorded', 'passnet');
