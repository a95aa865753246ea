"""Reads data sets with LLaMA-Factory's own loader, by the dataset_info.json beside them."""

import importlib.machinery
import sys
import types

import tiny  # type: ignore[import-not-found]

# its loader imports torchaudio, of which PyPI has no build for the CPU, and uses it for sound only
absent = types.ModuleType("torchaudio")
absent.__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)
sys.modules["torchaudio"] = absent

from llamafactory.data.loader import get_dataset  # type: ignore[import-not-found]  # noqa: E402
from llamafactory.data.template import get_template_and_fix_tokenizer  # type: ignore[import-not-found]  # noqa: E402
from llamafactory.hparams import get_train_args  # type: ignore[import-not-found]  # noqa: E402


def main() -> None:
    exports, out = tiny.arguments()
    made = tiny.tokenizer(tiny.lines(exports / "openai.jsonl"), tiny.PLAIN_TEMPLATE)
    model = str(out / "model")
    tiny.model(len(made)).save_pretrained(model)
    made.save_pretrained(model)
    found = {}
    for name in ("llamafactory", "llamafactory-one"):
        model_args, data_args, training_args, _, _ = get_train_args(
            {
                "stage": "sft", "do_train": True, "model_name_or_path": model, "template": "qwen", "dataset": name,
                "dataset_dir": str(exports), "output_dir": str(out / name), "cutoff_len": 1 << 16, "mask_history": True,
                "overwrite_cache": True, "finetuning_type": "full", "report_to": "none", "use_cpu": True, "bf16": False,
            }
        )  # fmt: skip
        template = get_template_and_fix_tokenizer(made, data_args)
        read = get_dataset(template, model_args, data_args, training_args, stage="sft", tokenizer=made)
        rows = list(read["train_dataset"])
        found[name] = {
            "examples": len(rows),
            "spans": [tiny.trained_spans(made, row["input_ids"], row["labels"]) for row in rows],
            "texts": [made.decode(row["input_ids"]) for row in rows],
        }
    tiny.tell(**found)


if __name__ == "__main__":
    main()
