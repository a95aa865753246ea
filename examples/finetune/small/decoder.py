"""A small decoder: its training from scratch on conversations, and its answers to many conversations at once.

The transformer of Llama (Touvron et al., 2023) in a few lines of torch, except that tokens are read with those before
them; trained with Muon (Jordan et al., 2024). The rows of its cache are at places of their own: an answer that ends
makes room for the next one."""

import copy
import json
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Protocol

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear, pad, scaled_dot_product_attention, silu

from examples.finetune.small.conversations import END, PAD, Conversations, calls_of, prompt_of
from passnet_core.records.trajectories import Message, Role
from passnet_core.solvers.llm.chat import ModelError, Reply, Stopped, Tool, Trouble

SAVE_EVERY_S = 60.0
UNLEARNT = -100
"""The label of a token that is not learnt."""
BEFORE = 3
"""How many tokens before each one are read with it."""


@dataclass(frozen=True)
class Shape:
    """The size of a decoder. context: the most tokens of a conversation."""

    width: int = 448
    layers: int = 10
    heads: int = 7
    inner: int = 1216
    context: int = 3072
    vocabulary: int = 4096


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How it is trained. seconds: of training, over which the rate falls to a tenth as a cosine does; or steps, if they
    are given. tokens: of a step, padding included. rate: the highest learning rate."""

    seconds: float = math.inf
    steps: int | None = None
    tokens: int = 16_384
    rate: float = 3e-3
    warm_up: float = 0.02
    """The share of the time in which the rate rises."""
    decay: float = 0.1
    clip: float = 1.0
    copied: int = 0
    """In how many of the first steps it learns to copy: random tokens that come twice."""
    dropout: float = 0.1
    """The share of what a layer adds that is dropped."""


# --- the model ---


class Attends(Protocol):
    """Attention of one layer: queries, keys and values of shape [rows, heads, tokens, width of a head]."""

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor: ...


def _causally(layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return scaled_dot_product_attention(query, key, value, is_causal=True)


class _Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.before_attention, self.before_mlp = nn.RMSNorm(shape.width, eps=1e-5), nn.RMSNorm(shape.width, eps=1e-5)
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.joined = nn.Linear(shape.width, shape.width, bias=False)
        self.gate_up = nn.Linear(shape.width, 2 * shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x: Tensor, turns: tuple[Tensor, Tensor], layer: int, attends: Attends) -> Tensor:
        parts = self.qkv(self.before_attention(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        query, key = (_turned(each, *turns) for each in parts[:2])
        x = x + self.dropout(self.joined(attends(layer, query, key, parts[2]).transpose(1, 2).flatten(2)))
        gate, up = self.gate_up(self.before_mlp(x)).chunk(2, dim=-1)
        return x + self.dropout(self.down(silu(gate) * up))


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding (Su et al., 2021), of shape [rows, heads, tokens, width of a head]."""
    left, right = x.chunk(2, dim=-1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1)


class Decoder(nn.Module):
    """Tokens to the logits of the next token; the embedding also serves as the head.

    Each token is read together with the BEFORE tokens before it. So one layer can find the places that follow the same
    words, and copying is learnt in hundreds of steps (the smeared keys of Olsson et al., 2022)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.before = nn.Linear(BEFORE * shape.width, shape.width, bias=False)
        self.blocks = nn.ModuleList(_Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=1e-5)
        nn.init.normal_(self.embedding.weight, std=0.02)
        for each in self.matrices():
            nn.init.normal_(each, std=each.shape[1] ** -0.5)

    def matrices(self) -> list[nn.Parameter]:
        """The weights of linear maps."""
        return [each.weight for each in self.modules() if isinstance(each, nn.Linear)]

    def hidden(self, tokens: Tensor, places: Tensor, attends: Attends = _causally) -> Tensor:
        """The last hidden states, [rows, tokens, width]. tokens: with BEFORE more at the beginning, [rows, BEFORE +
        tokens]; PAD where a conversation begins. places: of the tokens in their conversations, [rows or 1, tokens]."""
        half = self.shape.width // self.shape.heads // 2
        rates = 10_000.0 ** -(torch.arange(half, device=tokens.device) / half)
        angles = (places[:, None, :, None] * rates).float()
        read = self.embedding(tokens)
        x = read[:, BEFORE:] + self.before(read[:, :-1].unfold(1, BEFORE, 1).flatten(2))
        dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else x.dtype
        turns = angles.cos().to(dtype), angles.sin().to(dtype)
        for layer, block in enumerate(self.blocks):
            x = block(x, turns, layer, attends)
        found: Tensor = self.norm(x)
        return found

    def logits(self, hidden: Tensor) -> Tensor:
        """The logits that follow hidden states."""
        return linear(hidden, self.embedding.weight)


def new_decoder(shape: Shape, seed: int) -> Decoder:
    """A decoder with random weights."""
    torch.manual_seed(seed)
    return Decoder(shape)


# --- training ---


def train(
    model: Decoder,
    data: Conversations,
    schedule: Schedule,
    folder: Path,
    *,
    seed: int,
    tell: Callable[[str], None] = print,
) -> list[dict[str, float]]:
    """Train on the tokens that the model writes, and return the loss (nats per token) by step and seconds.

    The state is written to the folder once a minute, and the same call goes on from it. Raises ValueError without
    data."""
    if not len(data):
        raise ValueError("There is nothing to train on.")
    device = next(model.parameters()).device
    optimizers = _optimizers(model, schedule)
    state, before, curve = folder / "state.pt", 0.0, []
    if state.exists():
        found = torch.load(state, map_location=device, weights_only=True)
        model.load_state_dict(found["model"])
        for optimizer, then in zip(optimizers, found["optimizers"], strict=True):
            optimizer.load_state_dict(then)
        before, curve = found["seconds"], json.loads((folder / "curve.json").read_text())
    batches = _batches(data, schedule.tokens, random.Random(f"{seed} {len(curve)}"))
    began = saved = time.monotonic()
    model.train()
    for each in model.modules():
        if isinstance(each, nn.Dropout):
            each.p = schedule.dropout
    while True:
        spent = before + time.monotonic() - began
        share = spent / schedule.seconds if schedule.steps is None else len(curve) / schedule.steps
        if share >= 1.0:
            break
        rate = schedule.rate * min(1.0, share / schedule.warm_up) * (0.55 + 0.45 * math.cos(math.pi * share))
        for group in (group for each in optimizers for group in each.param_groups):
            group["lr"] = rate
        batch = _repeated(model.shape, schedule.tokens, len(curve)) if len(curve) < schedule.copied else next(batches)
        loss = _losses(model, *batch).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), schedule.clip)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if len(curve) % 20 == 0:
            tell(f"step {len(curve)}, {spent:.0f} s: loss {loss.item():.3f}")
        curve.append({"step": len(curve), "seconds": round(spent, 1), "loss": round(loss.item(), 4)})
        if time.monotonic() - saved > SAVE_EVERY_S:
            _save(model, optimizers, spent, curve, folder)
            saved = time.monotonic()
    _save(model, optimizers, max(spent, min(schedule.seconds, 1e9)), curve, folder)
    return curve


@torch.no_grad()
def loss_on(model: Decoder, data: Conversations, most_tokens: int) -> float:
    """The loss on conversations, in nats per token that the model writes."""
    model.eval()
    losses = [_losses(model, *batch) for batch in _once(data, most_tokens, random.Random(0))]
    return float(torch.cat(losses).mean())


def _losses(model: Decoder, tokens: Tensor, labels: Tensor) -> Tensor:
    """The loss at each token of a batch that is to be learnt."""
    device = model.embedding.weight.device
    tokens, labels = (each.to(device, non_blocking=True) for each in (tokens, labels[:, 1:]))
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        places = torch.arange(tokens.shape[1] - 1, device=device)[None]
        hidden = model.hidden(pad(tokens[:, :-1], (BEFORE, 0)), places)
        learnt = labels != UNLEARNT
        logits = model.logits(hidden[learnt])
    return cross_entropy(logits.float(), labels[learnt], reduction="none")


def _optimizers(model: Decoder, schedule: Schedule) -> list[torch.optim.Optimizer]:
    """Muon for the linear maps, whose updates it scales as AdamW's are; AdamW for the embedding and the norms."""
    matrices = model.matrices()
    others = [each for each in model.parameters() if all(each is not matrix for matrix in matrices)]
    return [
        torch.optim.Muon(matrices, weight_decay=schedule.decay, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, betas=(0.9, 0.95), weight_decay=0.0, fused=model.embedding.weight.is_cuda),
    ]


def _repeated(shape: Shape, most_tokens: int, seed: int) -> tuple[Tensor, Tensor]:
    """A batch of random tokens that come twice, the second time to be learnt. What is random can only be copied."""
    chance = torch.Generator().manual_seed(seed)
    length = int(torch.randint(8, max(shape.context // 8, 9), (), generator=chance))
    once = torch.randint(1, shape.vocabulary, (max(most_tokens // (2 * length), 1), length), generator=chance)
    return once.repeat(1, 2), torch.cat((torch.full_like(once, UNLEARNT), once), dim=1)


def _save(
    model: Decoder,
    optimizers: Sequence[torch.optim.Optimizer],
    seconds: float,
    curve: list[dict[str, float]],
    folder: Path,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / "state.new"
    states = [each.state_dict() for each in optimizers]
    torch.save({"model": model.state_dict(), "optimizers": states, "seconds": seconds}, new)
    (folder / "curve.json").write_text(json.dumps(curve))
    new.replace(folder / "state.pt")


def _batches(data: Conversations, most_tokens: int, chance: random.Random) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches without end: tokens and labels, both of shape [rows, longest]."""
    while True:
        yield from _once(data, most_tokens, chance)


def _once(data: Conversations, most_tokens: int, chance: random.Random) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches with each conversation once."""
    order = chance.sample(range(len(data)), len(data))
    # rows of about one length together, so that little is padding; the batches themselves in no order
    chunks = [order[start : start + 512] for start in range(0, len(order), 512)]
    rows: list[list[int]] = []
    for chunk in chunks:
        batch: list[int] = []
        for each in sorted(chunk, key=lambda each: data.lengths[each]):
            if batch and (len(batch) + 1) * data.lengths[each] > most_tokens:
                rows.append(batch)
                batch = []
            batch.append(each)
        rows.append(batch)
    chance.shuffle(rows)
    for batch in rows:
        read = [data.read(each, chance) for each in batch]
        longest = max(len(tokens) for tokens, _ in read)
        tokens = torch.zeros(len(read), longest, dtype=torch.long)
        labels = torch.full((len(read), longest), UNLEARNT)
        for row, (ids, own) in enumerate(read):
            tokens[row, : len(ids)] = ids
            labels[row, : len(ids)] = ids.where(own, UNLEARNT)
        yield tokens, labels


# --- sampling ---

STEPS = 16
"""Tokens between two looks at which answers have ended."""
MIN_P = 0.05
"""Tokens less likely than this share of the likeliest one are not sampled (Nguyen et al., 2024)."""


class _Sampler:
    """Rows of a cache, each of which continues one text: add puts a prompt into a free row, advance samples tokens."""

    def __init__(self, model: Decoder, rows: int, context: int, temperature: float) -> None:
        self.model, self.context, self.temperature = model, context, temperature
        weight, shape = model.embedding.weight, model.shape
        size = (shape.layers, rows, shape.heads, context, shape.width // shape.heads)
        self.keys, self.values = (torch.zeros(size, dtype=weight.dtype, device=weight.device) for _ in range(2))
        self.tokens = torch.zeros(rows, BEFORE + 1, dtype=torch.long, device=weight.device)
        """The token to be read next, and those before it."""
        self.places = torch.zeros(rows, dtype=torch.long, device=weight.device)
        self.made = torch.zeros(STEPS, rows, dtype=torch.long, device=weight.device)
        self.rows = torch.arange(rows, device=weight.device)
        self.graph: torch.cuda.CUDAGraph | None = None

    def add(self, row: int, prompt: Sequence[int]) -> None:
        """Read all tokens but the last, which the next step reads."""
        tokens = pad(torch.tensor([prompt], device=self.rows.device), (BEFORE, 0))
        read = len(prompt) - 1

        def kept(layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            self.keys[layer, row, :, :read], self.values[layer, row, :, :read] = key[0], value[0]
            return _causally(layer, query, key, value)

        if read:
            self.model.hidden(tokens[:, :-1], torch.arange(read, device=tokens.device)[None], kept)
        self.tokens[row], self.places[row] = tokens[0, -BEFORE - 1 :], read

    def advance(self) -> list[list[int]]:
        """The next STEPS tokens of each row; those of free rows mean nothing."""
        if self.rows.device.type != "cuda":
            self._steps()
        else:
            if self.graph is None:
                self.graph = self._captured()
            self.graph.replay()
        return self.made.T.tolist()

    def _captured(self) -> torch.cuda.CUDAGraph:
        before = self.tokens.clone(), self.places.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._steps()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._steps()
        for now, then in zip((self.tokens, self.places), before):
            now.copy_(then)
        return graph

    def _steps(self) -> None:
        for step in range(STEPS):
            seen = (torch.arange(self.context, device=self.rows.device) <= self.places[:, None])[:, None, None]

            def cached(layer: int, query: Tensor, key: Tensor, value: Tensor, seen: Tensor = seen) -> Tensor:
                self.keys[layer][self.rows, :, self.places] = key[:, :, 0]
                self.values[layer][self.rows, :, self.places] = value[:, :, 0]
                return scaled_dot_product_attention(query, self.keys[layer], self.values[layer], attn_mask=seen)

            hidden = self.model.hidden(self.tokens, self.places[:, None], cached)
            self.made[step] = self._drawn(self.model.logits(hidden[:, 0]).float())
            self.tokens.copy_(torch.cat((self.tokens[:, 1:], self.made[step, :, None]), dim=1))
            self.places.add_(1).clamp_(max=self.context - 1)

    def _drawn(self, logits: Tensor) -> Tensor:
        if not self.temperature:
            return logits.argmax(-1)
        likely = (logits / self.temperature).softmax(-1)
        likely = likely.where(likely >= MIN_P * likely.amax(-1, keepdim=True), 0.0)
        # a draw in proportion to what is likely: the first of exponential clocks with these rates
        return (likely / torch.empty_like(likely).exponential_()).argmax(-1)


@dataclass
class _Asked:
    prompt: list[int]
    reply: "Future[list[int]]"
    stopped: threading.Event
    most: int
    made: list[int] = field(default_factory=list)


class SmallModel:
    """A decoder as a Model of the playground's conversations. Up to at_once answers are sampled together, others wait;
    safe to share between threads. Call close() at the end."""

    def __init__(
        self,
        model: Decoder,
        tokenizer: Tokenizer,
        name: str,
        *,
        context: int,
        most_new: int = 2048,
        at_once: int = 128,
        temperature: float = 0.7,
    ) -> None:
        self.name = name
        half = torch.bfloat16 if model.embedding.weight.device.type == "cuda" else torch.float32
        self._model, self._tokenizer = copy.deepcopy(model).eval().to(half), tokenizer
        self._context, self._most_new, self._at_once, self._temperature = context, most_new, at_once, temperature
        self._end = tokenizer.token_to_id(END)
        assert tokenizer.token_to_id(PAD) == 0
        self._queue: Queue[_Asked | None] = Queue()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="small-model")
        self._working = self._thread.submit(self._work)

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
        most = min(self._context - len(prompt), self._most_new)
        if most < 64:
            raise ModelError(Trouble.TOO_LONG, f"The conversation has {len(prompt)} tokens of {self._context}.")
        asked = _Asked(prompt, Future(), cancelled, most)
        self._queue.put(asked)
        while not asked.reply.done():
            if self._working.done():
                self._working.result()
            if cancelled.wait(0.05):
                raise Stopped("The answer was stopped.")
        tokens = asked.reply.result()
        text = self._tokenizer.decode(tokens, skip_special_tokens=False)
        on_text(text)
        finish = "tool_calls" if tokens and tokens[-1] == self._end else "length"
        seconds = time.monotonic() - began
        return Reply(Message(Role.MODEL, calls=calls_of(text)), finish, len(prompt), len(tokens), seconds)

    def close(self) -> None:
        """Wait for the answers that were asked for."""
        self._queue.put(None)
        self._thread.shutdown()
        self._working.result()

    @torch.no_grad()
    def _work(self) -> None:
        sampler = _Sampler(self._model, self._at_once, self._context, self._temperature)
        rows: dict[int, _Asked] = {}
        closing = False
        while rows or not closing:
            free = [row for row in range(self._at_once) if row not in rows]
            while free and not closing:
                try:
                    asked = self._queue.get(block=not rows)
                except Empty:
                    break
                if asked is None:
                    closing = True
                elif not asked.stopped.is_set():
                    rows[row := free.pop()] = asked
                    sampler.add(row, asked.prompt)
            if not rows:
                continue
            made = sampler.advance()
            for row, asked in list(rows.items()):
                asked.made += made[row]
                if self._end in made[row]:
                    asked.made = asked.made[: asked.made.index(self._end) + 1]
                if asked.made[-1] == self._end or len(asked.made) >= asked.most or asked.stopped.is_set():
                    asked.reply.set_result(asked.made[: asked.most])
                    del rows[row]
