"""Valid Unicode. Python's strings and those of JSON may also hold halves of surrogate pairs, which no encoding has."""


def is_valid(text: str) -> bool:
    """Whether a text can be encoded."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def valid(text: str) -> str:
    """The text in valid Unicode: pairs of surrogates become the characters that they mean, single ones U+FFFD."""
    return text if is_valid(text) else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
