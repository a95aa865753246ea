-- conversations with language models: how each began, its finished turns, and how it ended
CREATE SEQUENCE trajectory_order;
CREATE TABLE trajectories (
    id VARCHAR PRIMARY KEY,
    place BIGINT NOT NULL DEFAULT nextval('trajectory_order'),
    task_id VARCHAR NOT NULL,
    started_at VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    content VARCHAR NOT NULL
);
CREATE TABLE turns (
    trajectory_id VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    accepted INTEGER,
    content VARCHAR NOT NULL,
    PRIMARY KEY (trajectory_id, number)
);
CREATE TABLE endings (
    trajectory_id VARCHAR PRIMARY KEY,
    content VARCHAR NOT NULL
);
