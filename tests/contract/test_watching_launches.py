"""Launches of compiled kernels as the launch recorder sees them, by the hooks that Triton calls around each."""

import pytest
import torch

pytest.importorskip("triton")

import triton
from triton.compiler.compiler import LazyDict

from passnet_core.judge.worker.launch_recorder import LaunchCounts, LaunchRecorder, _Reads


def test_a_launch_is_noted_once_and_what_it_reads_itself_is_no_read() -> None:
    knobs = triton.knobs.runtime
    before = len(knobs.launch_enter_hook.calls), len(knobs.launch_exit_hook.calls)
    recorder = LaunchRecorder("no bundle")
    recorder.current = LaunchCounts()
    x, metadata = torch.ones(4), LazyDict({"name": "scale_kernel"})
    with recorder.listening(), _Reads(recorder):
        assert (len(knobs.launch_enter_hook.calls), len(knobs.launch_exit_hook.calls)) == (before[0] + 1, before[1] + 1)
        for _ in range(2):
            knobs.launch_enter_hook(metadata)
            x.data_ptr()
            knobs.launch_exit_hook(metadata)
        x.data_ptr()
    assert recorder.current.seen == {("kernel", "scale_kernel", "", ""): 2, ("read", "data_ptr", "", ""): 1}
    assert (len(knobs.launch_enter_hook.calls), len(knobs.launch_exit_hook.calls)) == before
