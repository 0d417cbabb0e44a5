"""Downloads from a server on this machine that breaks off, lies or is not there."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from simulator.base.errors import DataError, UsageError
from workloads.fetching.download import MOST_BREAKS, fetch
from workloads.fetching.public_traces import HOST, MIRROR, TRACES, PublicTrace

pytest.importorskip("requests", reason="the extra `fetch` is not installed")

CONTENT = bytes(range(256)) * 4_000


@dataclass
class Server:
    """What is served, and what was asked for."""

    content: bytes = CONTENT
    gives: list[int] = field(default_factory=list)  # bytes of each answer before it breaks off
    ranges: bool = True
    status: int = 200
    asked: list[str | None] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            state.asked.append(wanted)
            start = int(wanted.split("=")[1].rstrip("-")) if wanted and state.ranges else 0
            body = state.content[start:]
            self.send_response(206 if start else state.status)
            if start:
                whole = len(state.content)
                self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # of a client that has heard enough
                self.wfile.write(body[: state.gives.pop(0)] if state.gives else body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{http.server_port}/")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


def trace(content: bytes = CONTENT) -> PublicTrace:
    digest = hashlib.sha256(content).hexdigest()
    return PublicTrace("o/r", "0" * 40, "d/t.jsonl", len(content), digest, "MIT", "a test")


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_trace_is_fetched_once(server: Server, tmp_path: Path) -> None:
    progress: list[tuple[int, int]] = []
    path = fetch(trace(), tmp_path / "new" / "folder", lambda *bytes_: progress.append(bytes_))
    assert path.read_bytes() == CONTENT
    assert left(path.parent) == ["t.jsonl"]
    assert progress[-1] == (len(CONTENT), len(CONTENT))
    assert fetch(trace(), path.parent) == path
    assert server.asked == [None]


def test_a_broken_download_goes_on_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.gives = [300_000, 300_000]
    assert fetch(trace(), tmp_path).read_bytes() == CONTENT
    assert server.asked[0] is None
    starts = [int(asked[6:-1]) for asked in server.asked[1:] if asked]
    assert len(starts) == 2
    assert 0 < starts[0] <= 300_000
    assert starts[0] < starts[1] <= 600_000


def test_the_next_run_goes_on_from_what_is_left(server: Server, tmp_path: Path) -> None:
    server.gives = [100_000, 0]
    with pytest.raises(UsageError, match=r"of 1,024,000 bytes are kept for the next try"):
        fetch(trace(), tmp_path)
    (part,) = left(tmp_path)
    assert part.startswith(".t.jsonl.")
    kept = (tmp_path / part).stat().st_size
    assert fetch(trace(), tmp_path).read_bytes() == CONTENT
    assert server.asked[-1] == f"bytes={kept}-"
    assert left(tmp_path) == ["t.jsonl"]


def test_a_line_that_breaks_again_and_again_is_given_up(server: Server, tmp_path: Path) -> None:
    server.gives = [70_000] * 100
    with pytest.raises(UsageError, match="nothing answers"):
        fetch(trace(), tmp_path)
    assert len(server.asked) == MOST_BREAKS + 1


def test_a_server_without_ranges_begins_anew(server: Server, tmp_path: Path) -> None:
    server.gives, server.ranges = [300_000], False
    assert fetch(trace(), tmp_path).read_bytes() == CONTENT


def test_what_has_another_hash_is_deleted(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-1] + b"x"
    with pytest.raises(DataError, match=r"expected sha256 [0-9a-f]{64}, found"):
        fetch(trace(), tmp_path)
    assert left(tmp_path) == []


def test_more_than_was_expected_is_refused(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT + b"x"
    with pytest.raises(DataError, match="expected 1,024,000 bytes, found more"):
        fetch(trace(), tmp_path)
    server.content = CONTENT
    assert fetch(trace(), tmp_path).read_bytes() == CONTENT


def test_a_page_that_says_no_is_no_trace(server: Server, tmp_path: Path) -> None:
    server.status = 404
    with pytest.raises(DataError, match="expected the file, found HTTP 404 Not Found"):
        fetch(trace(), tmp_path)
    assert left(tmp_path) == []


def test_another_file_of_the_name_is_left_alone(server: Server, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="exists and is not this trace"):
        fetch(trace(), tmp_path)
    assert (tmp_path / "t.jsonl").read_text() == "mine"
    assert server.asked == []


def test_nobody_there_is_one_plain_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{port}")
    with pytest.raises(UsageError, match=r"no network, or nothing answers \(.*refused\)$"):
        fetch(trace(), tmp_path)
    monkeypatch.setenv(MIRROR, "nonsense")
    with pytest.raises(UsageError, match=f"{MIRROR} may be wrong"):
        fetch(trace(), tmp_path)


def test_a_proxy_of_the_environment_is_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTP_PROXY", os.environ[MIRROR])
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv(MIRROR, "http://nowhere.invalid")
    assert fetch(trace(), tmp_path).read_bytes() == CONTENT


def test_a_folder_that_cannot_be_made_is_told(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        fetch(trace(), tmp_path / "file" / "folder")


def test_the_list_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR, raising=False)
    for name, entry in TRACES.items():
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert re.fullmatch(r"[0-9a-f]{40}", entry.commit)
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.url.startswith(f"{HOST}/{entry.repository}/{entry.commit}/")
    assert len({entry.sha256 for entry in TRACES.values()}) == len(TRACES)


def test_pins_are_those_of_the_files_at_hand(shared: Path) -> None:
    data = shared / "data"
    names = {
        "mooncake-conversation": "mooncake/conversation_trace.jsonl.gz",
        "mooncake-synthetic": "mooncake/synthetic_trace.jsonl.gz",
        "azure-2023-code": "azure_llm_2023/AzureLLMInferenceTrace_code.csv.gz",
        "azure-2023-conversation": "azure_llm_2023/AzureLLMInferenceTrace_conv.csv.gz",
        "kv-cache-tester-0291": "format_fixtures/weka_trace_0291_subagent.json",
        "kv-cache-tester-0504": "format_fixtures/weka_trace_0504.json",
        "tracelab-rounds": "format_fixtures/tracelab_round_trace_sanitized.jsonl",
        "tracelab-sessions": "format_fixtures/tracelab_multi_session_large.csv",
        "llmservingsim-example": "format_fixtures/llmservingsim_example_trace.jsonl",
    }
    assert names.keys() == TRACES.keys()
    for name, place in names.items():
        content = (data / place).read_bytes()
        content = gzip.decompress(content) if place.endswith(".gz") else content
        entry = TRACES[name]
        assert replace(trace(content), title="") == replace(
            entry,
            repository="o/r",
            commit="0" * 40,
            path="d/t.jsonl",
            licence="MIT",
            title="",
        )
