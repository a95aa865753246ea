"""The end of what a process prints."""

import os
import threading

LOG_BYTES = 8192
"""How much of the end of a process's output is kept."""
PATIENCE_S = 10.0
"""How long the end of the output may take to arrive after the last writer has ended."""


class LogTail:
    """Drains a pipe and keeps the end of its content, so that a gigabyte of prints fills and blocks nothing."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe2(os.O_CLOEXEC)
        self._kept = b""
        self._total = 0
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while data := os.read(self.reader, 1 << 16):
            self._total += len(data)
            self._kept = (self._kept + data)[-LOG_BYTES:]
        os.close(self.reader)

    def restart(self) -> None:
        """Drops the output of earlier jobs."""
        self._kept, self._total = b"", 0

    def close_writer(self) -> None:
        """Closes this end. Call it once the worker has its own copy of the descriptor."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def finish(self) -> str:
        """Returns the tail after every writer has ended."""
        self.close_writer()
        self._thread.join(PATIENCE_S)
        return self.text

    @property
    def text(self) -> str:
        kept = self._kept.decode(errors="replace").replace("\x00", "\ufffd")
        return f"[… {self._total - len(self._kept)} earlier bytes dropped]\n{kept}" if self._total > LOG_BYTES else kept
