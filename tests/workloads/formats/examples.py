"""One small sound file of each format, and one folder of those that are folders."""

from __future__ import annotations

import json
from typing import Any


def lines(*records: Any) -> bytes:
    """Return records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


CALL = {
    "attributes": {
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.input.messages": '[{"role": "user", "content": "How are you?"}]',
        "gen_ai.output.messages": '[{"role": "assistant", "content": "Well."}]',
    },
    "trace_id": "t1",
    "start_time": "2026-02-26T10:00:02.500+00:00",
    "status": {"code": 0},
}

BAILIAN_CHAT = {
    "chat_id": 159,
    "parent_chat_id": -1,
    "timestamp": 61.5,
    "input_length": 25,
    "output_length": 12,
    "type": "text",
    "turn": 1,
    "hash_ids": [80, 81],
}

DYNAMO_REQUEST = {
    "schema": "dynamo.request.trace.v1",
    "event_type": "request_end",
    "agent_context": {"session_id": "a"},
    "request": {
        "request_received_ms": 1700000000123,
        "output_tokens": 4,
        "model": "m",
        "replay": {"trace_block_size": 64, "input_length": 70, "input_sequence_hashes": [11, 12]},
    },
}

TRANSCRIPT_LINE = {
    "type": "assistant",
    "sessionId": "s1",
    "uuid": "a1",
    "parentUuid": "u1",
    "timestamp": "2026-02-01T10:00:05.250Z",
    "message": {
        "id": "msg_a",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": [{"type": "text", "text": "Yes"}],
        "usage": {
            "input_tokens": 4,
            "cache_creation_input_tokens": 86,
            "cache_read_input_tokens": 150,
            "output_tokens": 13,
        },
    },
}

LENGTHS = b"in_p5,in_p25,in_p50,in_p75,in_p95,in_p99,out_p5,out_p25,out_p50,out_p75,out_p95,out_p99"

EXAMPLES: dict[str, bytes] = {
    "aibrix": lines(
        {"timestamp": 0, "requests": [{"prompt": "Say it.", "prompt_length": 3}]},
        {
            "timestamp": 1000,
            "requests": [{"prompt": "Say it again.", "output_length": 9, "session_id": 1}],
        },
    ),
    "aiperf": lines(
        {"session_id": "a", "turns": [{"text": "Hi", "output_length": 7}, {"text": "More"}]},
        {"turns": [{"texts": ["Who", "are you?"], "delay": 250.5, "output_length": 3}]},
    ),
    "aiperf-inputs": lines(
        {
            "data": [
                {
                    "session_id": "s1",
                    "payloads": [
                        {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 12},
                        {"prompt": "Once upon", "model": "m"},
                    ],
                }
            ]
        }
    ),
    "azure": (
        b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
        b"2023-11-16 18:17:03.9799600,4808,10\r\n"
        b"2023-11-16 18:17:04.0319600,3180,8"
    ),
    "bailian": lines(BAILIAN_CHAT, BAILIAN_CHAT | {"chat_id": 160, "parent_chat_id": 159}),
    "bench-serving": lines(
        {
            "duration": 2.5,
            "input_lens": [100, 40],
            "output_lens": [10, 1520],
            "start_times": [5000.25, 5001.5],
            "errors": ["", ""],
        }
    ),
    "conversations": lines(
        {
            "id": "a",
            "conversations": [
                {"from": "system", "value": "Be brief."},
                {"from": "human", "value": "Which rivers meet in Vienna?"},
                {"from": "gpt", "value": "Danube and Wien."},
            ],
        },
        {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello!"}]},
    ),
    "burstgpt": (
        b"Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,"
        b"Log Type\n"
        b"45.5,s-1,3,GPT-4,472,18,490,Conversation log\n"
        b"118,s-2,2,ChatGPT,1087,0,1087,API log\n"
    ),
    "chat": lines(
        {
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user"}],
            "model": "m",
            "created": 1700000000,
            "session_id": "c",
            "usage": {"completion_tokens": 5},
        }
    ),
    "claude-code": lines(
        {
            "type": "user",
            "sessionId": "s1",
            "uuid": "u1",
            "parentUuid": None,
            "timestamp": "2026-02-01T10:00:00.125Z",
            "message": {"role": "user", "content": "Is it so?"},
        },
        TRANSCRIPT_LINE,
        TRANSCRIPT_LINE | {"uuid": "a2", "parentUuid": "a1"},
    ),
    "copilot": lines(
        {
            "session_id": "aa",
            "date": "2026-06-01",
            "turns": [
                {
                    "llm_calls": [
                        {
                            "timestamp": "2026-06-01T08:00:00.500Z",
                            "model": "Model A",
                            "result": "Success",
                            "tokens": {"prompt": 950, "completion": 70, "cached": 640},
                            "message_metadata": [{"type": "System", "token_len": 900}],
                        }
                    ],
                }
            ],
        },
        {"session_id": "bb", "turns": [{"llm_calls": []}]},
    ),
    "dynamo": lines(
        DYNAMO_REQUEST,
        {"timestamp": 1700000000200, "event": DYNAMO_REQUEST},
        {"schema": "dynamo.request.trace.v1", "event_type": "tool_end"},
    ),
    "kv-cache-tester": lines(
        {
            "id": "trace_1",
            "block_size": 64,
            "hash_id_scope": "local",
            "requests": [
                {"t": 0.0, "type": "n", "in": 130, "out": 9, "hash_ids": [1, 2]},
                {
                    "t": 1.5,
                    "type": "subagent",
                    "requests": [{"t": 0.25, "type": "n", "in": 64, "out": 3, "hash_ids": [7]}],
                },
                {"t": 2.5, "type": "s", "in": 200, "out": 0, "hash_ids": [1, 2, 3]},
            ],
        },
        {
            "id": "trace_2",
            "block_size": 64,
            "requests": [{"t": 0.0, "in": 260, "out": 8, "ranges": [[0, 3], [5, 1]]}],
        },
    ),
    "llmservingsim": lines(
        {
            "input_toks": 3,
            "output_toks": 2,
            "arrival_time_ns": 46926808,
            "input_tok_ids": [5, 6, 7],
            "output_tok_ids": [8, 9],
        },
        {
            "input_toks": 4,
            "output_toks": 1,
            "arrival_time_ns": 50000000,
            "input_tok_ids": [5, 6, 7, 1],
        },
    ),
    "lmcache": lines(
        {
            "timestamp": 1760000000000000,
            "input": "Say it.",
            "output": "It.",
            "session_id": "k",
        },
        {
            "timestamp": 1760000001500000,
            "input": "Say it. It. Again.",
            "output": "",
            "session_id": "k",
        },
    ),
    "mooncake": lines(
        {"timestamp": 27000, "input_length": 700, "output_length": 52, "hash_ids": [46, 47]},
        {"timestamp": 30000, "input_length": 512, "output_length": 26, "hash_ids": [46]},
    ),
    "otel": json.dumps(
        {"spans": [CALL, CALL | {"start_time": "2026-02-26T10:00:03+00:00"}]}
    ).encode(),
    "prompts": lines(
        {"prompt": "Say it.", "response": "It.", "timestamp": 5.5, "session_id": "p"},
        {"prompt": "Say it again.", "response": "It again.", "timestamp": 6},
    ),
    "quality": lines(
        {
            "article_id": "52845",
            "article": "A long story.",
            "questions": [{"question": "Why?", "options": ["So", "No"], "gold_label": 2}],
        }
    ),
    "sglang": lines(
        {
            "gsp-num-groups": 3,
            "gsp-prompts-per-group": 2,
            "gsp-system-prompt-len": 40,
            "gsp-question-len": 8,
            "gsp-output-len": 5,
            "gsp-range-ratio": 0.5,
            "seed": 11,
        }
    ),
    "splitwise": (
        b"request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,"
        b"token_size\n0,2,0,1,1,4096,32\n1,2,1,3.25,1,2048,8\n"
    ),
    "tracelab": (
        b"session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"
        b"0,0,0,0,512,64,100\n0,0,1,576,128,64,0\n1,200,0,0,400,48,80.5\n"
    ),
    "tracelab-rounds": lines(
        {
            "session_id": "claude:1",
            "round_index": 0,
            "model": "m",
            "input_tokens_total": 30,
            "prefix_tokens": 10,
            "newly_append_tokens": 20,
            "output_tokens": 6,
            "timing_events": [
                {"event_type": "user_message", "timestamp": "2026-06-01T05:40:20.151Z"}
            ],
        }
    ),
    "vidur": b"arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,591,140\n0.625,547,248\n",
}

FOLDERS: dict[str, dict[str, bytes]] = {
    "narrativeqa": {
        "documents.csv": b"document_id,kind,story_word_count\nd1,movie,5\n",
        "qaps.csv": b"document_id,question,answer1\nd1,Who?,He\nd1,Why?,\n",
    },
    "servegen": {
        "arrival_windows.csv": (
            b"pool,client,window_s,rate,pattern,param1\n"
            b"m,0,0,0.05,Gamma,0.5\nm,1,600,0.02,Weibull,0.75\nm,1,0,0,,0\n"
        ),
        "length_quantiles.csv": (
            b"pool,client,window_s," + LENGTHS + b"\nm,0,0,10,20,30,40,50,60,1,2,3,4,5,6\n"
        ),
    },
    "system-prompts": {
        "turns.txt": b"Hello there.\nWho are you?\n",
        "one.md": b"You are a helpful assistant. " * 180,
    },
}
