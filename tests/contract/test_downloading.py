"""The command corpus download, with the Hub's own library and a local server that speaks the Hub's protocol."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.unit.corpus.samples import sample_folder
from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]
COMMIT = "c0ffee" + "0" * 34
NAME = "someone/samples"


class Hub(ThreadingHTTPServer):
    """A Hub with one dataset. files: its content. sent: what is sent instead of a file. cut: files of which only a half
    is sent, once, before the connection goes dead. asked: (method, path, range) of every request."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = files
        self.sent: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.half_sent, self.released = threading.Event(), threading.Event()
        self.asked: list[tuple[str, str, str]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def fetched(self) -> list[str]:
        """The name of each file that was fetched, once for each time."""
        return [path.partition("/resolve/")[2][41:] for method, path, _ in self.asked if method == "GET"]

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore connections that a killed client left open."""


class Answer(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.asked.append((self.command, path, self.headers.get("Range", "")))
        if path == f"/api/datasets/{NAME}/revision/main":
            self._json({"id": NAME, "sha": COMMIT, "siblings": []})
        elif path == f"/api/datasets/{NAME}/tree/{COMMIT}":
            self._json([self._listed(name, content) for name, content in self.server.files.items()])
        elif (name := path.removeprefix(f"/datasets/{NAME}/resolve/{COMMIT}/")) in self.server.files:
            self._file(name)
        else:
            code = "RevisionNotFound" if path.startswith(f"/api/datasets/{NAME}/") else "RepoNotFound"
            self.send_response(404)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

    do_HEAD = do_GET

    def _listed(self, name: str, content: bytes) -> dict[str, object]:
        listed: dict[str, object] = {"type": "file", "path": name, "size": len(content), "oid": git_digest(content)}
        if name.endswith(".bin"):
            listed["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
        return listed

    def _file(self, name: str) -> None:
        content = self.server.files[name]
        etag = hashlib.sha256(content).hexdigest() if name.endswith(".bin") else git_digest(content)
        body = self.server.sent.get(name, content)
        start = int(self.headers.get("Range", "bytes=0-")[len("bytes=") :].partition("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(body) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        if self.command == "HEAD":
            return
        if name in self.server.cut:
            self.server.cut.remove(name)
            self.wfile.write(body[start : len(body) // 2])
            self.wfile.flush()
            self.server.half_sent.set()
            self.server.released.wait(seconds(60))
            self.close_connection = True
        else:
            self.wfile.write(body[start:])

    def _json(self, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


def git_digest(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    sample_folder(tmp_path / "upstream", "add-relu")
    files = {
        path.relative_to(tmp_path / "upstream").as_posix(): path.read_bytes()
        for path in sorted((tmp_path / "upstream").rglob("*"))
        if path.is_file()
    }
    server = Hub({**files, "weights.bin": bytes(range(256)) * 160_000})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


def started(home: Path, endpoint: str, *argv: str) -> subprocess.Popen[str]:
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "PASSNET_"))}
    return subprocess.Popen(
        [sys.executable, "-m", "passnet_core", "corpus", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        env={**variables, "HF_ENDPOINT": endpoint, "PASSNET_HOME": str(home), "HF_HOME": str(home / "hub")},
    )


def ran(home: Path, endpoint: str, *argv: str) -> tuple[int, str, str]:
    with started(home, endpoint, *argv) as process:
        out, err = process.communicate(timeout=seconds(60))
    return process.returncode, out, err


def test_without_yes_the_download_is_described_and_not_started(hub: Hub, tmp_path: Path) -> None:
    code, out, err = ran(tmp_path / "home", hub.endpoint, "download", NAME)
    assert code == 0, err
    assert f"{len(hub.files)} files, 41 MB" in err
    assert str(tmp_path / "home" / "datasets" / "someone--samples") in err
    assert "Nothing was downloaded" in out
    assert not any(hub.fetched())
    assert not (tmp_path / "home" / "datasets").exists()


def test_a_finished_download_is_complete_can_be_imported_and_is_not_repeated(hub: Hub, tmp_path: Path) -> None:
    home = tmp_path / "home"
    code, out, err = ran(home, hub.endpoint, "download", NAME, "--yes", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["files"] == len(hub.files)
    folder = Path(told["folder"])
    assert {name: (folder / name).read_bytes() for name in hub.files} == hub.files
    assert "Imported 1 tasks with 2 subgraphs" in ran(home, hub.endpoint, "import", str(folder))[1]
    hub.asked.clear()
    code, _, err = ran(home, hub.endpoint, "download", NAME, "--yes")
    assert code == 0
    assert f"{len(hub.files)} are there already, so 0 bytes are left to download" in err
    assert not any(hub.fetched())


def test_a_broken_connection_is_resumed_where_it_broke(hub: Hub, tmp_path: Path) -> None:
    hub.cut = {"weights.bin"}
    hub.released.set()
    code, out, err = ran(tmp_path / "home", hub.endpoint, "download", NAME, "--yes")
    assert code == 0, err
    assert "Downloaded and verified" in out
    ranges = [asked for method, path, asked in hub.asked if method == "GET" and path.endswith("weights.bin")]
    assert ranges[0] == ""
    assert int(ranges[1].removeprefix("bytes=").removesuffix("-")) > 1 << 20


def test_after_a_kill_only_the_incomplete_files_are_fetched(hub: Hub, tmp_path: Path) -> None:
    hub.cut = {"weights.bin"}
    folder = tmp_path / "home" / "datasets" / "someone--samples"
    with started(tmp_path / "home", hub.endpoint, "download", NAME, "--yes") as process:
        assert hub.half_sent.wait(seconds(60))
        while sum((folder / name).exists() for name in hub.files) < len(hub.files) - 1:
            assert process.poll() is None
        assert (
            "Another process is already downloading into"
            in ran(tmp_path / "home", hub.endpoint, "download", NAME, "--yes")[2]
        )
        process.send_signal(signal.SIGKILL)
    hub.released.set()
    hub.asked.clear()
    code, out, err = ran(tmp_path / "home", hub.endpoint, "download", NAME, "--yes")
    assert code == 0, err
    assert "Downloaded and verified" in out
    assert [name for name in hub.fetched() if name] == ["weights.bin"]
    assert not list(folder.rglob("*.incomplete"))


def test_a_file_with_a_wrong_checksum_is_fetched_again_and_then_refused(hub: Hub, tmp_path: Path) -> None:
    whole = hub.files["weights.bin"]
    hub.sent["weights.bin"] = whole[:-1] + b"!"
    code, _, err = ran(tmp_path / "home", hub.endpoint, "download", NAME, "--yes")
    assert code == 3
    assert "Files missing or with wrong checksums after 2 downloads" in err
    assert "in all 1: weights.bin." in err
    assert "weights.bin" in err
    assert hub.fetched().count("weights.bin") == 2
    folder = tmp_path / "home" / "datasets" / "someone--samples"
    assert not (folder / "weights.bin").exists()
    hub.sent.clear()
    assert ran(tmp_path / "home", hub.endpoint, "download", NAME, "--yes")[0] == 0
    assert (folder / "weights.bin").read_bytes() == whole


def test_an_unreachable_hub_or_an_unknown_dataset_is_an_error(hub: Hub, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}"
        code, _, err = ran(tmp_path / "home", nobody, "download", NAME, "--yes")
    assert code == 3
    assert f"{nobody} does not answer as expected" in err
    assert "Traceback" not in err
    for asked, words in (
        (("nobody/nothing",), "There is no dataset nobody/nothing"),
        ((NAME, "--revision", "v9"), "has no revision 'v9'"),
        (("not a name",), "is not the name of a dataset"),
    ):
        code, _, err = ran(tmp_path / "home", hub.endpoint, "download", *asked)
        assert code == 2, err
        assert words in err
