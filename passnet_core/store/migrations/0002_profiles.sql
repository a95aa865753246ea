-- the profile that an outcome was judged under; older rows have it inside content only, under an older name
ALTER TABLE outcomes ADD COLUMN profile VARCHAR DEFAULT 'strict';
UPDATE outcomes SET profile = 'passnet'
WHERE json_extract_string(content, '$.spec.profile') IN ('recorded', 'passnet');
