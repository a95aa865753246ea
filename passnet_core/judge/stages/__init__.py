"""The stages of a job, one file each: check, verify, census, measure, verdict. pipeline.py runs a job through them."""
