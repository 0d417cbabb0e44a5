"""Resumable downloads of public traces, verified by hash before they get their final name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.base.errors import DataError, UsageError, printable
from simulator.base.files import unwritable
from simulator.base.installing import install_hint
from workloads.fetching.public_traces import MIRROR, PublicTrace

if TYPE_CHECKING:
    from requests import Response

CONNECT_SECONDS, READ_SECONDS = 10.0, 60.0
CHUNK_BYTES = 1 << 16
MOST_BREAKS = 5  # of one download, even where each connection adds some bytes

Report = Callable[[int, int], None]  # bytes downloaded, bytes in all


def fetch(trace: PublicTrace, folder: Path, report: Report | None = None) -> Path:
    """Download a trace into `folder`, which is created if missing, and return the file's path.

    A download that was interrupted stays in a hidden file in that folder and is resumed by the next
    call. A file that exists with the right content is not fetched again. Proxies are taken from the
    usual environment variables (HTTPS_PROXY, ...); MILEPOST_MIRROR replaces the host.

    Raises
    ------
    UsageError
        If the server cannot be reached, the folder cannot be written, a different file has the
        name, or the extra `fetch` is not installed.
    DataError
        If the server sends another content than expected.
    """
    path = folder / trace.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            return _checked_twin(path, trace)
        part = folder / f".{trace.file_name}.{trace.sha256[:8]}.part"
        _download(trace, part, report)
        _check(trace, part)
        part.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def _checked_twin(path: Path, trace: PublicTrace) -> Path:
    """Return the path of an existing file if it is this trace; else raise `UsageError`."""
    if path.is_file() and _sha256(path) == trace.sha256:
        return path
    raise UsageError(f"{printable(str(path))}: exists and is not this trace; move it away")


def _download(trace: PublicTrace, part: Path, report: Report | None) -> None:
    """Download until the file has the expected size, reconnecting where a connection breaks."""
    try:
        import requests
    except ImportError:
        raise UsageError(f"fetching needs the library requests: {install_hint('fetch')}") from None
    breaks = 0
    while (done := _size(part)) < trace.size_bytes:
        try:
            _continue(trace, part, done, report)
            if _size(part) < trace.size_bytes:
                raise requests.ConnectionError("the connection ended early")
        except (
            requests.ConnectionError,
            requests.Timeout,
            requests.exceptions.ChunkedEncodingError,
        ) as error:
            breaks += 1
            if _size(part) <= done or breaks > MOST_BREAKS:
                raise _unreachable(trace, _size(part), error) from None
        except requests.RequestException as error:
            raise UsageError(f"{trace.url}: {_why(error)} ({MIRROR} may be wrong)") from None


def _continue(trace: PublicTrace, part: Path, done: int, report: Report | None) -> None:
    """Open one connection and append its bytes after the first `done` bytes."""
    import requests

    wanted = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with requests.get(
        trace.url, headers=wanted, stream=True, timeout=(CONNECT_SECONDS, READ_SECONDS)
    ) as response:
        done = _agreed_start(trace, response, done)
        with part.open("r+b" if part.exists() else "wb") as file:
            file.seek(done)
            file.truncate()
            for chunk in response.iter_content(CHUNK_BYTES):
                done += file.write(chunk)
                if done > trace.size_bytes:
                    file.truncate(0)
                    raise DataError(trace.url, f"expected {trace.size_bytes:,} bytes, found more")
                if report is not None:
                    report(done, trace.size_bytes)
            file.flush()
            os.fsync(file.fileno())


def _agreed_start(trace: PublicTrace, response: Response, done: int) -> int:
    """Return the offset at which the response begins: 0 if the whole file is sent again."""
    if response.status_code == 200:
        return 0
    begins = response.headers.get("Content-Range", "").startswith(f"bytes {done}-")
    if response.status_code == 206 and begins:
        return done
    status = f"HTTP {response.status_code} {response.reason or ''}".strip()
    raise DataError(trace.url, f"expected the file, found {printable(status)}")


def _check(trace: PublicTrace, part: Path) -> None:
    """Verify the hash; a wrong file is deleted, so that the next download starts afresh."""
    digest = _sha256(part)
    if digest != trace.sha256:
        part.unlink()
        raise DataError(trace.url, f"expected sha256 {trace.sha256}, found {digest}; deleted")


def _unreachable(trace: PublicTrace, done: int, error: Exception) -> UsageError:
    kept = f"; {done:,} of {trace.size_bytes:,} bytes are kept for the next try" if done else ""
    return UsageError(f"{trace.url}: no network, or nothing answers ({_why(error)}){kept}")


def _why(error: Exception) -> str:
    """Return the text of the innermost error, without addresses of objects."""
    reason: BaseException = error
    while inner := getattr(reason, "reason", None) or reason.__cause__ or reason.__context__:
        if not isinstance(inner, BaseException):
            break
        reason = inner
    text = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
    return printable(text.rpartition(": ")[2] or type(reason).__name__, 120)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
