"""Public traces that can be fetched, each pinned by a commit and the sha256 of its bytes.

Only files that have been downloaded and hashed are listed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

HOST = "https://raw.githubusercontent.com"
MIRROR = "MILEPOST_MIRROR"  # the environment variable that replaces the host


@dataclass(frozen=True, slots=True)
class PublicTrace:
    """A trace file in a public repository.

    Parameters
    ----------
    repository, commit, path
        Its location: owner/name, a commit of 40 hex digits, the path in the repository.
    size_bytes, sha256
        Size and hash of the file.
    licence
        SPDX identifier.
    title
        One line on the content, with its authors.
    """

    repository: str
    commit: str
    path: str
    size_bytes: int
    sha256: str
    licence: str
    title: str

    @property
    def file_name(self) -> str:
        """The file's name, without folders."""
        return self.path.rpartition("/")[2]

    @property
    def url(self) -> str:
        """The file's address, on the mirror where the environment names one."""
        host = os.environ.get(MIRROR) or HOST
        return f"{host.rstrip('/')}/{self.repository}/{self.commit}/{self.path}"


_MOONCAKE = ("kvcache-ai/Mooncake", "3b5a594133958449a1feaf1c9e0fc1b553e34a28")
_AZURE = ("Azure/AzurePublicDataset", "b469a113cedca53ddc3bdea71a143dc4b7d8700c")
_WEKA = ("callanjfox/kv-cache-tester", "94f6046dfd9c0c8bc0cdb24a5aa6579bac8669bf")
_TRACELAB = ("uw-syfi/TraceLab", "0b8a262ba69602869133b65972d51a388bde45e1")

TRACES: dict[str, PublicTrace] = {
    "mooncake-conversation": PublicTrace(
        *_MOONCAKE,
        "FAST25-release/traces/conversation_trace.jsonl",
        3_029_533,
        "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df",
        "Apache-2.0",
        "an hour of chat of a production service (Qin et al., FAST 2025)",
    ),
    "mooncake-synthetic": PublicTrace(
        *_MOONCAKE,
        "FAST25-release/traces/synthetic_trace.jsonl",
        1_136_313,
        "bd070915a98fc0ed264d7cfef2ce746002eb3076a695ec31ba2674c0111ec131",
        "Apache-2.0",
        "requests over public long-context data sets (Qin et al., FAST 2025)",
    ),
    "azure-2023-code": PublicTrace(
        *_AZURE,
        "data/AzureLLMInferenceTrace_code.csv",
        320_117,
        "54e9a6d2a4bd06ba1e060304b900abbc74cbea53de96506e60fe5bb4f2277fb6",
        "CC-BY-4.0",
        "lengths and times of a coding service (Patel et al., ISCA 2024)",
    ),
    "azure-2023-conversation": PublicTrace(
        *_AZURE,
        "data/AzureLLMInferenceTrace_conv.csv",
        719_188,
        "2f1e5b666d4e3055fdbba98598ce2ec307767b9064e03e2fa46676dbcc7d0bf8",
        "CC-BY-4.0",
        "lengths and times of a chat service (Patel et al., ISCA 2024)",
    ),
    "kv-cache-tester-0291": PublicTrace(
        *_WEKA,
        "traces/trace_0291.json",
        163_609,
        "035d48ef21ecff81233f258b5d547e6e272a3fade99bac958a40b6beeebd97c2",
        "Apache-2.0",
        "one session of a coding agent with sub-agents, of 739 (kv-cache-tester)",
    ),
    "kv-cache-tester-0504": PublicTrace(
        *_WEKA,
        "traces/trace_0504.json",
        2_707,
        "a902593802a8d08f95e4ad9f08a4a254d6511ad8d72faa403945f61c2cbef58f",
        "Apache-2.0",
        "one short session of a coding agent, of 739 (kv-cache-tester)",
    ),
    "tracelab-rounds": PublicTrace(
        *_TRACELAB,
        "example_sessions/sanitized/round_trace.jsonl",
        32_960,
        "314c49483148fe68e230a683f739e3e6e68d478948ecf342739596f30af36b57",
        "CC-BY-4.0",
        "rounds of coding agents, pseudonymised (TraceLab)",
    ),
    "tracelab-sessions": PublicTrace(
        *_TRACELAB,
        "replay/examples/multi_session_large.csv",
        7_923,
        "8afdf8d3ae742aa73a17ab93a4f11edafa6076fdfb47d0fb96d2c3defc6de8ab",
        "Apache-2.0",
        "a workload of several sessions (TraceLab)",
    ),
    "llmservingsim-example": PublicTrace(
        "casys-kaist/LLMServingSim",
        "5daddb21a545658d5150b535712d0494584b5278",
        "workloads/example_trace.jsonl",
        3_573,
        "8e55b35d62c0530fd6fefcf67d422b1dcb8b80e1c71243a21900f8ac829b5429",
        "MIT",
        "a small example with token ids (LLMServingSim)",
    ),
}
