"""Where a job runs: one method, behind which there is this machine or a stand-in."""
