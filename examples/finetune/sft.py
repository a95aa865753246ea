"""Fine-tune a causal language model on conversations, by TRL and PEFT, on one GPU.

    passnet trajectories export --format trl --out runs/passes.jsonl
    python examples/finetune/sft.py --model NAME_OR_FOLDER --data runs/passes.jsonl --out runs/tuned

The loss falls on the answers that are worth learning and on nothing else. The folder gets the adapter (or, with --full,
the weights), the tokenizer, the losses as curve.json and as a picture, curve.svg. The same command goes on from the
last checkpoint; --merge writes a model that servers can load."""

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import torch
from datasets import load_dataset
from matplotlib import pyplot
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.trainer_utils import get_last_checkpoint
from trl import SFTConfig, SFTTrainer


def main() -> None:
    args = flags().parse_args()
    out = Path(args.out)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    if tokenizer.chat_template is None:
        raise SystemExit(f"{args.model} has no chat template, so it cannot be told of tools. Choose an instruct model.")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    on_gpu = torch.cuda.is_available()
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16 if on_gpu else torch.float32)
    files = {"train": args.data, "test": args.validation}
    data = load_dataset("json", data_files={name: file for name, file in files.items() if file})
    settings = SFTConfig(
        output_dir=str(out),
        max_length=args.context,
        num_train_epochs=args.epochs,
        max_steps=args.steps,
        learning_rate=args.rate or (2e-5 if args.full else 2e-4),
        lr_scheduler_type="cosine",
        warmup_steps=0.03,
        per_device_train_batch_size=args.batch,
        gradient_accumulation_steps=args.accumulate,
        gradient_checkpointing=on_gpu,
        bf16=on_gpu,
        completion_only_loss=True,
        logging_steps=args.log_every,
        save_steps=args.save_every,
        save_total_limit=2,
        eval_strategy="steps" if args.validation else "no",
        eval_steps=args.save_every,
        report_to="none",
        seed=args.seed,
    )
    adapter = None if args.full else LoraConfig(r=args.rank, lora_alpha=2 * args.rank, target_modules="all-linear")
    trainer = SFTTrainer(
        model=model,
        args=settings,
        train_dataset=data["train"],
        eval_dataset=data.get("test"),
        processing_class=tokenizer,
        peft_config=adapter,
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(out)) if out.exists() else None)
    trainer.save_model(str(out))
    tokenizer.save_pretrained(str(out))
    draw(trainer.state.log_history, out)
    if args.merge and not args.full:
        merged = trainer.accelerator.unwrap_model(trainer.model).merge_and_unload()
        merged.save_pretrained(str(out / "merged"))
        tokenizer.save_pretrained(str(out / "merged"))
    print(f"Wrote {out}.")


def draw(history: list[dict[str, Any]], out: Path) -> None:
    """Write the losses, in nats per token, by step, as JSON and as a picture."""
    kinds = {"training": "loss", "validation": "eval_loss"}
    curves = {name: [(each["step"], each[key]) for each in history if key in each] for name, key in kinds.items()}
    (out / "curve.json").write_text(json.dumps(curves))
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name, points in curves.items():
        if points:
            axes.plot(*zip(*points), label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("loss (nats per token)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(out / "curve.svg")


def flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], allow_abbrev=False)
    add = parser.add_argument
    add(
        "--model",
        required=True,
        metavar="NAME",
        help="a causal model with a chat template, by name or folder",
    )
    add("--data", required=True, metavar="FILE", help="what trajectories export --format trl wrote")
    add("--validation", metavar="FILE", help="the same for validation")
    add("--out", required=True, metavar="DIR", help="folder of checkpoints and results")
    add("--full", action="store_true", help="train all weights instead of a LoRA adapter")
    add("--merge", action="store_true", help="also write the model with the adapter in it, to OUT/merged")
    add("--rank", type=int, default=32, metavar="N", help="rank of the adapter (default: %(default)s)")
    add("--context", type=int, default=16384, metavar="N", help="most tokens of an example (default: %(default)s)")
    add("--epochs", type=float, default=2.0, metavar="N", help="times through the data (default: %(default)s)")
    add("--steps", type=int, default=-1, metavar="N", help="stop after so many steps (default: by --epochs)")
    add("--rate", type=float, metavar="X", help="learning rate (default: 2e-4, and 2e-5 with --full)")
    add("--batch", type=int, default=1, metavar="N", help="examples on the GPU at once (default: %(default)s)")
    add("--accumulate", type=int, default=16, metavar="N", help="of them per step (default: %(default)s)")
    add("--log-every", type=int, default=5, metavar="N", help="steps (default: %(default)s)")
    add("--save-every", type=int, default=100, metavar="N", help="steps (default: %(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="of the order of the data (default: %(default)s)")
    return parser


if __name__ == "__main__":
    main()
