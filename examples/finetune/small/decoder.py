"""A small decoder: its training from scratch on conversations, and its answers to many conversations at once."""

import copy
import json
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, Queue

import torch
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from examples.finetune.small.conversations import END, PAD, calls_of, prompt_of
from passnet_core.records.trajectories import Message, Role
from passnet_core.solvers.llm.chat import ModelError, Reply, Stopped, Tool, Trouble

Encoded = tuple[list[int], list[bool]]
SAVE_EVERY_S = 60.0


@dataclass(frozen=True)
class Shape:
    """The size of a decoder. context: the most tokens of a conversation."""

    width: int = 512
    layers: int = 10
    heads: int = 8
    inner: int = 1408
    context: int = 3072
    vocabulary: int = 8192


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How it is trained. seconds: of training, over which the rate falls to a tenth as a cosine does; or steps, if they
    are given. tokens: of a step, padding included. rate: the highest learning rate."""

    seconds: float = math.inf
    steps: int | None = None
    tokens: int = 65_536
    rate: float = 1e-3
    warm_up: float = 0.02
    """The share of the time in which the rate rises."""
    decay: float = 0.1
    clip: float = 1.0


def new_decoder(shape: Shape, seed: int) -> LlamaForCausalLM:
    """A decoder with random weights."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        max_position_embeddings=shape.context,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
    )
    return LlamaForCausalLM(config)


def train(
    model: LlamaForCausalLM,
    data: Sequence[Encoded],
    schedule: Schedule,
    folder: Path,
    *,
    seed: int,
    tell: Callable[[str], None] = print,
) -> list[dict[str, float]]:
    """Train on the tokens that the model writes, and return the loss (nats per token) by step and seconds.

    The state is written to the folder once a minute, and the same call goes on from it. Raises ValueError without
    data."""
    if not data:
        raise ValueError("There is nothing to train on.")
    device = next(model.parameters()).device
    kinds = ([p for p in model.parameters() if p.dim() > 1], [p for p in model.parameters() if p.dim() < 2])
    groups = [{"params": kinds[0], "weight_decay": schedule.decay}, {"params": kinds[1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=schedule.rate, betas=(0.9, 0.95), fused=device.type == "cuda")
    state, before, curve = folder / "state.pt", 0.0, []
    if state.exists():
        found = torch.load(state, map_location=device, weights_only=True)
        model.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])
        before, curve = found["seconds"], json.loads((folder / "curve.json").read_text())
    batches = _batches(data, schedule.tokens, random.Random(f"{seed} {len(curve)}"))
    began = saved = time.monotonic()
    model.train()
    while True:
        spent = before + time.monotonic() - began
        share = spent / schedule.seconds if schedule.steps is None else len(curve) / schedule.steps
        if share >= 1.0:
            break
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate * min(1.0, share / schedule.warm_up) * (0.55 + 0.45 * math.cos(math.pi * share))
        tokens, labels = (each.to(device) for each in next(batches))
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits = model(input_ids=tokens, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), schedule.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if len(curve) % 20 == 0:
            tell(f"step {len(curve)}, {spent:.0f} s: loss {loss.item():.3f}")
        curve.append({"step": len(curve), "seconds": round(spent, 1), "loss": round(loss.item(), 4)})
        if time.monotonic() - saved > SAVE_EVERY_S:
            _save(model, optimizer, spent, curve, folder)
            saved = time.monotonic()
    _save(model, optimizer, max(spent, min(schedule.seconds, 1e9)), curve, folder)
    return curve


def _save(
    model: LlamaForCausalLM,
    optimizer: torch.optim.Optimizer,
    seconds: float,
    curve: list[dict[str, float]],
    folder: Path,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / "state.new"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "seconds": seconds}, new)
    (folder / "curve.json").write_text(json.dumps(curve))
    new.replace(folder / "state.pt")


def _batches(
    data: Sequence[Encoded], most_tokens: int, chance: random.Random
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches without end: tokens and labels, which are −100 where nothing is learnt; both of shape [rows, longest]."""
    while True:
        order = chance.sample(range(len(data)), len(data))
        # rows of about one length together, so that little is padding; the batches themselves in no order
        chunks = [order[start : start + 512] for start in range(0, len(order), 512)]
        rows: list[list[int]] = []
        for chunk in chunks:
            batch: list[int] = []
            for each in sorted(chunk, key=lambda each: len(data[each][0])):
                if batch and (len(batch) + 1) * len(data[each][0]) > most_tokens:
                    rows.append(batch)
                    batch = []
                batch.append(each)
            rows.append(batch)
        chance.shuffle(rows)
        for batch in rows:
            longest = max(len(data[each][0]) for each in batch)
            tokens = torch.zeros(len(batch), longest, dtype=torch.long)
            labels = torch.full((len(batch), longest), -100)
            for row, each in enumerate(batch):
                ids, own = torch.tensor(data[each][0]), torch.tensor(data[each][1])
                tokens[row, : len(ids)] = ids
                labels[row, : len(ids)] = torch.where(own, ids, -100)
            yield tokens, labels


@dataclass
class _Asked:
    prompt: list[int]
    reply: "Future[list[int]]"


class SmallModel:
    """A decoder as a Model of the playground's conversations. Answers that are asked for at about the same time are
    sampled together; safe to share between threads. Call close() at the end."""

    def __init__(
        self,
        model: LlamaForCausalLM,
        tokenizer: Tokenizer,
        name: str,
        *,
        context: int,
        most_new: int = 1536,
        at_once: int = 128,
        temperature: float = 0.7,
        wait_s: float = 0.3,
    ) -> None:
        self.name = name
        half = torch.bfloat16 if model.device.type == "cuda" else torch.float32
        self._model, self._tokenizer = copy.deepcopy(model).eval().to(half), tokenizer
        self._context, self._most_new, self._at_once = context, most_new, at_once
        self._temperature, self._wait_s = temperature, wait_s
        self._end, self._pad = tokenizer.token_to_id(END), tokenizer.token_to_id(PAD)
        self._queue: Queue[_Asked | None] = Queue()
        self._sampler = ThreadPoolExecutor(1, thread_name_prefix="small-model-sampler")
        self._thread = threading.Thread(target=self._work, name="small-model", daemon=True)
        self._thread.start()

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        cancelled: threading.Event,
        on_text: Callable[[str], None] = lambda text: None,
        most_tokens: int | None = None,
    ) -> Reply:
        """See Model. Raises ModelError if the conversation leaves no room for an answer."""
        began = time.monotonic()
        prompt = self._tokenizer.encode(prompt_of(messages)).ids
        if len(prompt) > self._context - 64:
            raise ModelError(Trouble.TOO_LONG, f"The conversation has {len(prompt)} tokens of {self._context}.")
        asked = _Asked(prompt, Future())
        self._queue.put(asked)
        while not asked.reply.done():
            if cancelled.wait(0.05):
                raise Stopped("The answer was stopped.")
        tokens = asked.reply.result()
        text = self._tokenizer.decode(tokens, skip_special_tokens=False)
        on_text(text)
        finish = "tool_calls" if tokens and tokens[-1] == self._end else "length"
        seconds = time.monotonic() - began
        return Reply(Message(Role.MODEL, calls=calls_of(text)), finish, len(prompt), len(tokens), seconds)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._sampler.shutdown()

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch = [first]
            until = time.monotonic() + self._wait_s
            while len(batch) < self._at_once:
                try:
                    asked = self._queue.get(timeout=max(0.0, until - time.monotonic()))
                except Empty:
                    break
                if asked is None:
                    self._queue.put(None)
                    break
                batch.append(asked)
            sampling = self._sampler.submit(self._sampled, [each.prompt for each in batch])
            # an error in sampling is raised where somebody waits for an answer
            error = sampling.exception()
            for number, asked in enumerate(batch):
                if error is not None:
                    asked.reply.set_exception(error)
                else:
                    asked.reply.set_result(sampling.result()[number])

    @torch.no_grad()
    def _sampled(self, prompts: Sequence[list[int]]) -> list[list[int]]:
        device = next(self._model.parameters()).device
        longest = max(map(len, prompts))
        tokens = torch.full((len(prompts), longest), self._pad, device=device)
        mask = torch.zeros_like(tokens)
        for row, prompt in enumerate(prompts):
            tokens[row, longest - len(prompt) :] = torch.tensor(prompt, device=device)
            mask[row, longest - len(prompt) :] = 1
        made = self._model.generate(
            input_ids=tokens,
            attention_mask=mask,
            do_sample=self._temperature > 0,
            temperature=self._temperature or None,
            top_p=0.95 if self._temperature > 0 else None,
            max_new_tokens=min(self._most_new, self._context - longest),
            eos_token_id=self._end,
            pad_token_id=self._pad,
        )
        answers = made[:, longest:].tolist()
        return [answer[: answer.index(self._end) + 1] if self._end in answer else answer for answer in answers]


def save_decoder(model: LlamaForCausalLM, shape: Shape, folder: Path) -> None:
    """Write the weights, in bfloat16, and the shape."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shape.json").write_text(json.dumps(asdict(shape)))
    torch.save({name: each.to(torch.bfloat16) for name, each in model.state_dict().items()}, folder / "weights.pt")
