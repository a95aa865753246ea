"""Tokenizes a data set with Axolotl's strategy for chat templates, which its loader applies to every row."""

import tiny  # type: ignore[import-not-found]
from axolotl.prompt_strategies.chat_template import load  # type: ignore[import-not-found]
from axolotl.utils.dict import DictDefault  # type: ignore[import-not-found]
from datasets import load_dataset  # type: ignore[import-not-found]


def main() -> None:
    exports, out = tiny.arguments()
    made = tiny.tokenizer(tiny.lines(exports / "openai.jsonl"), tiny.PLAIN_TEMPLATE)
    source = {
        "type": "chat_template",
        "chat_template": "tokenizer_default",
        "field_messages": "messages",
        "message_field_training": "train",
    }
    config = DictDefault({"sequence_len": 1 << 16, "train_on_inputs": False, "datasets": [source]})
    strategy = load(made, config, ds_cfg=DictDefault(source))
    rows = load_dataset("json", data_files=str(exports / "axolotl.jsonl"), split="train", cache_dir=str(out))
    found = [strategy.tokenize_prompt(dict(row)) for row in rows]
    tiny.tell(
        examples=len(found),
        spans=[tiny.trained_spans(made, row["input_ids"], row["labels"]) for row in found],
        texts=[made.decode(row["input_ids"]) for row in found],
    )


if __name__ == "__main__":
    main()
