"""Trace formats by name, stricter ones first, since the first match wins."""

from workloads.formats.aibrix import AIBRIX
from workloads.formats.aiperf import AIPERF
from workloads.formats.aiperf_inputs import AIPERF_INPUTS
from workloads.formats.azure import AZURE
from workloads.formats.bailian import BAILIAN
from workloads.formats.bench_serving import BENCH_SERVING
from workloads.formats.burstgpt import BURSTGPT
from workloads.formats.chat import CHAT
from workloads.formats.claude_code import CLAUDE_CODE
from workloads.formats.conversations import CONVERSATIONS_FORMAT
from workloads.formats.copilot import COPILOT
from workloads.formats.dynamo import DYNAMO
from workloads.formats.format import TraceFormat
from workloads.formats.kv_cache_tester import KV_CACHE_TESTER
from workloads.formats.llmservingsim import LLMSERVINGSIM
from workloads.formats.lmcache import LMCACHE
from workloads.formats.mooncake import MOONCAKE
from workloads.formats.narrativeqa import NARRATIVEQA
from workloads.formats.otel import OTEL
from workloads.formats.prompts import PROMPTS
from workloads.formats.quality import QUALITY
from workloads.formats.servegen import SERVEGEN
from workloads.formats.sglang import SGLANG
from workloads.formats.splitwise import SPLITWISE
from workloads.formats.system_prompts import SYSTEM_PROMPTS
from workloads.formats.tracelab import TRACELAB
from workloads.formats.tracelab_rounds import TRACELAB_ROUNDS
from workloads.formats.vidur import VIDUR

FORMATS: dict[str, TraceFormat] = {
    format.name: format
    for format in (
        DYNAMO,
        KV_CACHE_TESTER,
        BAILIAN,
        MOONCAKE,
        OTEL,
        CLAUDE_CODE,
        COPILOT,
        AIPERF_INPUTS,
        LLMSERVINGSIM,
        AIBRIX,
        LMCACHE,
        BENCH_SERVING,
        TRACELAB_ROUNDS,
        TRACELAB,
        AZURE,
        BURSTGPT,
        SPLITWISE,
        VIDUR,
        SERVEGEN,
        SGLANG,
        AIPERF,
        SYSTEM_PROMPTS,
        NARRATIVEQA,
        QUALITY,
        CHAT,
        CONVERSATIONS_FORMAT,
        PROMPTS,
    )
}
