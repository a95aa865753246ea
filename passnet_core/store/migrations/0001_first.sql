-- Everything is appended, nothing is changed in place.
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
-- the places of a run; two jobs of equal digest may stand in one run under different names
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
-- content is the whole outcome, its raw samples too; the other columns are what questions are asked by
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
-- data files whose runs were taken in
CREATE TABLE recorded_files (
    digest VARCHAR PRIMARY KEY
);
