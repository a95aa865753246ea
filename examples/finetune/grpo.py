"""Train a causal language model by GRPO on the judge's rewards, by TRL and PEFT.

    passnet serve-judge --judges 4 --tasks data/training/tasks
    python examples/finetune/grpo.py --model NAME_OR_FOLDER --data data/training/prompts.jsonl.xz --out runs/rewarded

The model answers each prompt several times, and learns from how the rewards of these answers differ. An answer that
could not be judged has no reward, and moves no weight. The folder gets the adapter (or, with --full, the weights), the
tokenizer, and for each step the mean reward and the share of answers without one, as rewards.json. The same command
goes on from the last checkpoint."""

import argparse
import json
from pathlib import Path

import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.trainer_utils import get_last_checkpoint
from trl import GRPOConfig, GRPOTrainer

from passnet_client import JudgeClient
from passnet_client.trl import judged_reward

COLUMNS = ["prompt", "task", "stage"]
"""What the trainer and the reward need of a prompt's row."""


def main() -> None:
    args = flags().parse_args()
    out = Path(args.out)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    if tokenizer.chat_template is None:
        raise SystemExit(f"{args.model} has no chat template, so it cannot be prompted. Choose an instruct model.")
    on_gpu = torch.cuda.is_available()
    data = load_dataset("json", data_files=args.data, split="train")
    in_text = data.filter(lambda row: row["protocol"] == "text")
    if not len(in_text):
        raise SystemExit(f"{args.data} has no prompt for answers in text. Export them with --protocol text.")
    settings = GRPOConfig(
        output_dir=str(out),
        max_steps=args.steps,
        learning_rate=args.rate or (1e-6 if args.full else 1e-5),
        per_device_train_batch_size=args.group,
        num_generations=args.group,
        gradient_accumulation_steps=args.accumulate,
        max_completion_length=args.answer,
        gradient_checkpointing=on_gpu,
        bf16=on_gpu,
        use_cpu=not on_gpu,
        logging_steps=1,
        save_steps=args.save_every,
        save_total_limit=2,
        report_to="none",
        seed=args.seed,
    )
    adapter = None if args.full else LoraConfig(r=args.rank, lora_alpha=2 * args.rank, target_modules="all-linear")
    trainer = GRPOTrainer(
        AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16 if on_gpu else torch.float32),
        judged_reward(JudgeClient(args.judge), at_once=args.at_once),
        args=settings,
        train_dataset=in_text.select_columns(COLUMNS),
        processing_class=tokenizer,
        peft_config=adapter,
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(out)) if out.exists() else None)
    trainer.save_model(str(out))
    tokenizer.save_pretrained(str(out))
    steps = [each for each in trainer.state.log_history if "reward" in each]
    rewards = [{"step": each["step"], "reward": each["reward"], "no_reward": each["judge/no_reward"]} for each in steps]
    (out / "rewards.json").write_text(json.dumps(rewards))
    print(f"Wrote {out}.")


def flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], allow_abbrev=False)
    add = parser.add_argument
    add("--model", required=True, metavar="NAME", help="a causal model with a chat template, by name or folder")
    add("--data", required=True, metavar="FILE", help="what trajectories export --format prompts wrote")
    add("--out", required=True, metavar="DIR", help="folder of checkpoints and results")
    add("--judge", default="", metavar="URL", help="the judge's service (default: PASSNET_JUDGE_URL)")
    add("--full", action="store_true", help="train all weights instead of a LoRA adapter")
    add("--rank", type=int, default=32, metavar="N", help="rank of the adapter (default: %(default)s)")
    add("--group", type=int, default=8, metavar="N", help="answers to a prompt (default: %(default)s)")
    add("--accumulate", type=int, default=4, metavar="N", help="prompts per step (default: %(default)s)")
    add("--answer", type=int, default=4096, metavar="N", help="most tokens of an answer (default: %(default)s)")
    add("--steps", type=int, default=200, metavar="N", help="stop after so many steps (default: %(default)s)")
    add("--rate", type=float, metavar="X", help="learning rate (default: 1e-5, and 1e-6 with --full)")
    add("--at-once", type=int, default=16, metavar="N", help="answers judged at once (default: %(default)s)")
    add("--save-every", type=int, default=20, metavar="N", help="steps (default: %(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="of the order of the prompts (default: %(default)s)")
    return parser


if __name__ == "__main__":
    main()
