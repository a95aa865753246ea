-- Rows are only added, never changed.
CREATE TABLE bundles (
    digest VARCHAR PRIMARY KEY,
    author VARCHAR NOT NULL,
    content VARCHAR NOT NULL
);
CREATE TABLE environments (
    digest VARCHAR PRIMARY KEY,
    content VARCHAR NOT NULL
);
CREATE SEQUENCE run_order;
CREATE TABLE runs (
    id VARCHAR PRIMARY KEY,
    place BIGINT NOT NULL DEFAULT nextval('run_order'),
    started_at VARCHAR NOT NULL,
    solver VARCHAR NOT NULL,
    bundle_digest VARCHAR,
    stage VARCHAR NOT NULL,
    recorded VARCHAR NOT NULL,
    owner VARCHAR NOT NULL,
    content VARCHAR NOT NULL
);
-- the jobs of a run by place; a run may have two jobs of equal digest under different subgraph ids
CREATE TABLE jobs (
    run_id VARCHAR NOT NULL,
    place BIGINT NOT NULL,
    job_digest VARCHAR NOT NULL,
    task_id VARCHAR NOT NULL,
    subgraph_id VARCHAR NOT NULL,
    subgraph_digest VARCHAR NOT NULL,
    dtype VARCHAR NOT NULL,
    PRIMARY KEY (run_id, place)
);
-- content is the whole outcome as JSON, raw samples included; the other columns are for queries
CREATE TABLE outcomes (
    run_id VARCHAR NOT NULL,
    place BIGINT NOT NULL,
    job_digest VARCHAR NOT NULL,
    environment_digest VARCHAR,
    solver VARCHAR NOT NULL,
    bundle_digest VARCHAR,
    task_id VARCHAR NOT NULL,
    subgraph_id VARCHAR NOT NULL,
    subgraph_digest VARCHAR NOT NULL,
    dtype VARCHAR NOT NULL,
    device VARCHAR NOT NULL,
    device_name VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,
    capture VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,
    judged BOOLEAN NOT NULL,
    accepted BOOLEAN NOT NULL,
    error_class VARCHAR,
    speedup DOUBLE,
    baseline_speedup DOUBLE,
    correct_bits INTEGER NOT NULL,
    finished_at VARCHAR NOT NULL,
    content VARCHAR NOT NULL,
    PRIMARY KEY (run_id, place)
);
CREATE SEQUENCE draft_order;
CREATE TABLE drafts (
    place BIGINT NOT NULL DEFAULT nextval('draft_order'),
    task_id VARCHAR NOT NULL,
    slot VARCHAR NOT NULL,
    saved_at VARCHAR NOT NULL,
    content VARCHAR NOT NULL
);
-- data files that were imported
CREATE TABLE recorded_files (
    digest VARCHAR PRIMARY KEY
);
