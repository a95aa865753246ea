"""Trains a few steps with TRL's SFTTrainer, DPOTrainer and GRPOTrainer."""

import tiny  # type: ignore[import-not-found]
from datasets import load_dataset  # type: ignore[import-not-found]
from trl import (  # type: ignore[import-not-found]
    DPOConfig,
    DPOTrainer,
    GRPOConfig,
    GRPOTrainer,
    SFTConfig,
    SFTTrainer,
)

EVERYWHERE = {"report_to": "none", "use_cpu": True, "max_steps": 2, "per_device_train_batch_size": 2, "bf16": False}


def main() -> None:
    exports, out = tiny.arguments()
    made = tiny.tokenizer(tiny.lines(exports / "openai.jsonl"))
    model = str(out / "model")
    tiny.model(len(made)).save_pretrained(model)

    def loaded(name: str):  # type: ignore[no-untyped-def]
        return load_dataset("json", data_files=str(exports / name), split="train", cache_dir=str(out / "cache"))

    found = {}
    for name, only_assistant in (("trl.jsonl", False), ("trl.whole.jsonl", True)):
        config = SFTConfig(str(out / name), max_length=None, assistant_only_loss=only_assistant, **EVERYWHERE)
        trainer = SFTTrainer(model, config, train_dataset=loaded(name), processing_class=made)
        batches = [trainer.data_collator([row]) for row in trainer.train_dataset]
        spans = [
            tiny.trained_spans(made, each["input_ids"][0].tolist(), each["labels"][0].tolist()) for each in batches
        ]
        texts = [made.decode(each["input_ids"][0]) for each in batches]
        loss = trainer.train().training_loss
        found[name] = {"examples": len(trainer.train_dataset), "spans": spans, "texts": texts, "loss": loss}
    preferences = loaded("preferences.jsonl")
    trainer = DPOTrainer(
        model, args=DPOConfig(str(out / "dpo"), max_length=None, **EVERYWHERE), train_dataset=preferences,
        processing_class=made,
    )  # fmt: skip
    found["preferences"] = {
        "examples": len(trainer.train_dataset),
        "columns": sorted(trainer.train_dataset.column_names),
        "prompts": [made.decode(row["prompt_ids"]) for row in trainer.train_dataset],
        "chosen": [made.decode(row["chosen_ids"]) for row in trainer.train_dataset],
        "rejected": [made.decode(row["rejected_ids"]) for row in trainer.train_dataset],
        "loss": trainer.train().training_loss,
    }
    heard: list[tuple[str, str]] = []

    def reward(prompts, completions, task, stage, **others):  # type: ignore[no-untyped-def]
        heard.extend(zip(task, stage, strict=True))
        return [float(len(each[0]["content"])) for each in completions]

    trainer = GRPOTrainer(
        model, reward,
        args=GRPOConfig(str(out / "grpo"), num_generations=2, max_completion_length=4, **EVERYWHERE),
        train_dataset=loaded("prompts.jsonl"), processing_class=made,
    )  # fmt: skip
    examples = len(trainer.train_dataset)
    found["prompts"] = {"examples": examples, "heard": sorted(set(heard)), "loss": trainer.train().training_loss}
    found["prompts"]["heard"] = sorted(set(heard))
    tiny.tell(**found)


if __name__ == "__main__":
    main()
