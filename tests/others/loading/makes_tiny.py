"""Writes a tiny random model with a tokenizer and a chat template to a folder, as a hub would have it."""

from tests.others.loading import tiny


def main() -> None:
    exports, out = tiny.arguments()
    made = tiny.tokenizer(tiny.lines(exports), tiny.PLAIN_TEMPLATE)
    tiny.model(len(made)).save_pretrained(out)
    made.save_pretrained(out)


if __name__ == "__main__":
    main()
