"""What the referee does with a job, one file a stage: check, verify, census, measure, and the verdict."""
