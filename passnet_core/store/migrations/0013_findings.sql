-- the findings of a bundle are the same in many outcomes: they are kept once. Older outcomes have them inside content
CREATE TABLE findings (
    digest VARCHAR PRIMARY KEY,
    content VARCHAR NOT NULL,
    bytes BIGINT NOT NULL
);
ALTER TABLE outcomes ADD COLUMN findings_digest VARCHAR;
ALTER TABLE outcomes ADD COLUMN bytes BIGINT;
UPDATE outcomes SET bytes = strlen(content);
