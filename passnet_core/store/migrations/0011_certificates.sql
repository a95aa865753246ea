-- what somebody has passed in the course; the content never changes, and the id is told from it
CREATE TABLE certificates (
    id VARCHAR PRIMARY KEY,
    content VARCHAR NOT NULL
);
