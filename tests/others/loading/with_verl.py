"""Reads data sets with verl's MultiTurnSFTDataset and RLHFDataset."""

import tiny  # type: ignore[import-not-found]
from omegaconf import OmegaConf  # type: ignore[import-not-found]
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset  # type: ignore[import-not-found]
from verl.utils.dataset.rl_dataset import RLHFDataset  # type: ignore[import-not-found]


def main() -> None:
    exports, out = tiny.arguments()
    made = tiny.tokenizer(tiny.lines(exports / "openai.jsonl"), tiny.PLAIN_TEMPLATE)
    # it checks that messages rendered one by one are what the whole conversation is
    config = OmegaConf.create({"max_length": 1 << 14, "pad_mode": "no_padding", "truncation": "error"})
    taught = MultiTurnSFTDataset(str(exports / "verl.parquet"), made, config)
    rows = [taught[number] for number in range(len(taught))]
    spans = []
    for row in rows:
        labels = [token if kept else -100 for token, kept in zip(row["input_ids"], row["loss_mask"], strict=True)]
        spans.append(tiny.trained_spans(made, row["input_ids"].tolist(), [int(each) for each in labels]))
    asked = {}
    for name in ("prompts.parquet", "prompts.jsonl"):
        config = OmegaConf.create({"cache_dir": str(out), "max_prompt_length": 1 << 14, "prompt_key": "prompt"})
        read = RLHFDataset(str(exports / name), made, config)
        asked[name] = [
            {
                "roles": [message["role"] for message in row["raw_prompt"]],
                "truth": row["reward_model"]["ground_truth"],
                "source": row["data_source"],
                "index": row["index"],
                "stage": row["extra_info"]["stage"],
            }
            for row in (read[number] for number in range(len(read)))
        ]
    texts = [made.decode(row["input_ids"]) for row in rows]
    tiny.tell(examples=len(rows), spans=spans, texts=texts, prompts=asked)


if __name__ == "__main__":
    main()
