"""Sessions of kv-cache-tester (WEKA): coding agents with sub-agents, in seconds since their start.

Source: callanjfox/kv-cache-tester, whose traces/ hold one JSON document a session; NVIDIA AIPerf
and others read them too. A request has a time `t`, lengths `in` and `out`, and an id for each whole
block of its prompt. An id identifies the prefix up to its block, within the session unless
`hash_id_scope` is "global". Also read: JSON lines of sessions, and requests whose ids are `ranges`
of [first, count].

- Times are relative to the session's start. All sessions start together, which is noted, unless
  the options have a `session_rate`: then they start as a Poisson process with that many sessions a
  second.
- Requests arrive at their recorded `t`; `api_time`, `think_time` and `ttft` are not used.
- A sub-agent's requests count as requests of its session, with the label "subagent" (others:
  "main"). Their times are relative to the sub-agent's own `t` in the original files, and absolute
  in copies published elsewhere. If any of them is earlier than its sub-agent's `t`, all are read as
  relative, otherwise as absolute; this is noted.
- A prompt has an id for each whole block, and possibly one for its partial block; what has no id
  matches nothing. A request with an empty prompt is left out and counted. Zero output tokens are
  kept.
- A session with a bad request is refused as a whole. Copies and near copies of sessions are kept;
  `trace validate` counts them.
"""

from __future__ import annotations

from pathlib import Path

from simulator.base.bounds import MAX_BLOCK_TOKENS
from simulator.base.errors import DataError
from workloads.anomaly import Anomaly
from workloads.formats.format import Head, TraceFormat
from workloads.instants import Instants
from workloads.options import ReadOptions
from workloads.prefixes.id_ranges import MAX_PIECES, IdRanges
from workloads.reading.fields import Problem, short
from workloads.reading.head import read_head
from workloads.reading.json_document import SUFFIXES, read_json_documents
from workloads.reading.json_lines import read_json_lines
from workloads.rows import Rows
from workloads.sessions.agents import SUBAGENT, AgentSession, Checked, SessionError, flatten
from workloads.sessions.layout import lay_out

BLOCK_TOKENS = 64
GLOBAL = -1  # the scope of ids that all sessions share


def read(path: Path, options: ReadOptions) -> Rows:
    """Read a document, a folder of documents, or JSON lines of sessions."""
    sessions = _Sessions(options)
    if is_lines(path):
        read_json_lines(path, sessions.rows, AgentSession, sessions.take)
    else:
        read_json_documents(path, sessions.rows, AgentSession, sessions.take)
    return sessions.finish(path)


def is_lines(path: Path) -> bool:
    """Return whether a file is JSON lines, that is, whether its second line starts an object."""
    if path.is_dir():
        return False
    first, _, rest = read_head(path).text.partition(b"\n")
    if not rest.strip():
        return path.name.endswith((".jsonl", ".jsonl.gz"))
    return first.rstrip()[-1:] == b"}" and rest.lstrip()[:1] == b"{"


class _Sessions:
    """Reader of sessions: it collects rows, and settles times after the last session."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._prompts = IdRanges()
        self.rows = Rows(self._prompts, options.on_bad_line, options.ticks_per_second("s"))
        self._above = Instants()  # by row: the sub-agent's start, to which a relative time is added
        self._nested = 0
        self._early = 0
        self._count = 0

    def take(self, session: AgentSession, number: int) -> Problem | None:
        """Add a session, or return what is wrong with it."""
        block = session.block_size
        if block is None:
            block = self._options.block or BLOCK_TOKENS
        if not 1 <= block <= MAX_BLOCK_TOKENS:
            return "block_size", f"expected 1 to {MAX_BLOCK_TOKENS} tokens, found {short(block)}"
        if session.hash_id_scope not in {"local", "global"}:
            return "hash_id_scope", "expected local or global"
        try:
            requests = flatten(session, block, self.rows.ticks_per_second)
        except SessionError as error:
            return error.problem
        scope = GLOBAL if session.hash_id_scope == "global" else self._count
        for request in requests:
            self._add(request, number, scope, block)
        self._count += 1
        if not requests:
            self.rows.note("empty-session", number, "sessions without requests")
        return None

    def _add(self, request: Checked, number: int, scope: int, block: int) -> None:
        if request.prompt_tokens == 0:
            self.rows.note("empty-prompt", number, "requests without a prompt are left out")
            return
        self._prompts.add(request.first, request.count, scope, block)
        self._above.append(request.above or 0, self.rows.ticks_per_second)
        self._nested += request.above is not None
        self._early += request.early
        self.rows.isolation.look_within(number, {"model": request.model})
        self.rows.add(
            number,
            request.prompt_tokens,
            request.output_tokens,
            request.time,
            self._count,
            SUBAGENT if request.subagent else "main",
        )

    def finish(self, path: Path) -> Rows:
        """Return the rows, with all times on one clock."""
        rows = self.rows
        if not len(rows):
            if not rows.bad_lines:
                raise DataError(str(path), "expected sessions with requests, found none")
            return rows
        if self._prompts.pieces() > MAX_PIECES:
            limit = f"{MAX_PIECES:,} pieces of ranges"
            raise DataError(str(path), f"ids of a session part too often: the limit is {limit}")
        if self._nested:
            self._settle_times()
        lay_out(rows, self._options)
        rows.oddities |= self._prompts.anomalies(rows.lengths(), rows.line)
        return rows

    def _settle_times(self) -> None:
        """Make the times of sub-agents relative to their sessions, if they are not already."""
        rows = self.rows
        detail = "times of sub-agents are read as absolute: none is earlier than its sub-agent"
        if self._early:
            rows.time_ticks.shift(self._above)
            detail = "times of sub-agents are read as relative: some are earlier than the sub-agent"
        rows.oddities["subagent-times"] = Anomaly("subagent-times", self._nested, None, detail)


def matches(head: Head) -> bool:
    """Return whether a session has requests with ids, in the file or a folder's first document."""
    if head.names:
        documents = [name for name in head.names if name.endswith(SUFFIXES)]
        return bool(documents) and matches(read_head(head.path / documents[0]))
    return head.has("requests", "block_size") and (
        head.mentions("t", "in", "hash_ids") or head.mentions("t", "in", "ranges")
    )


KV_CACHE_TESTER = TraceFormat(
    name="kv-cache-tester",
    title="kv-cache-tester (WEKA) sessions: seconds, session-local ids, sub-agents, or ranges",
    read=read,
    matches=matches,
    options=frozenset({"block", "time_unit", "session_rate", "seed"}),
    not_needed={
        "id": "sessions are told apart by their place",
        "*.models": "each request names its own",
        "*.api_time": "how long a server took says nothing of another",
        "*.think_time": "requests come at their recorded time",
        "*.ttft": "how long a server took says nothing of another",
    },
)
