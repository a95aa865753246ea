-- how many bytes the content has: to sum them up, reading every text would take too long
ALTER TABLE drafts ADD COLUMN bytes BIGINT;
UPDATE drafts SET bytes = strlen(content);
ALTER TABLE bundles ADD COLUMN bytes BIGINT;
UPDATE bundles SET bytes = strlen(content);
