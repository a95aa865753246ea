#!/bin/sh
# Judge the agent's bundle. One that is missing or cannot be read has the reward 0. If the judge itself fails, the file
# stays empty, and Harbor reports an error of the trial.
logs=${1:-/logs/verifier}
exec passnet evaluate --device cpu --bundle "${2:-/app/pass_dir}" --outcomes "$logs/outcomes.jsonl" \
  --reward "$logs/reward.json" -- %quoted
