-- what a visitor wrote about a run, and whether it is starred; unlike other rows, these change
CREATE TABLE run_notes (
    visitor VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    note VARCHAR NOT NULL DEFAULT '',
    starred BOOLEAN NOT NULL DEFAULT false,
    PRIMARY KEY (visitor, run_id)
);
