"""The rules of Qwen3.5 and Qwen3 once more, as Jinja of our own."""

from __future__ import annotations

QUERY = """
{%- set ns = namespace(query=messages|length - 1, found=false) %}
{%- for m in messages|reverse %}
  {%- if not ns.found and m.role == 'user' and not m.content.startswith('<tool_response>') %}
    {%- set ns.query = messages|length - loop.index %}
    {%- set ns.found = true %}
  {%- endif %}
{%- endfor %}
"""

REASONING = """
{%- macro split(m) %}
  {%- set ns2 = namespace(r='', c=m.content or '') %}
  {%- if m.reasoning_content is string %}
    {%- set ns2.r = m.reasoning_content %}
  {%- elif '</think>' in ns2.c %}
    {%- set ns2.r = ns2.c.split('</think>')[0].split('<think>')[-1] %}
    {%- set ns2.c = ns2.c.split('</think>')[-1] %}
  {%- endif %}
  {{- ns2.r|trim }}context{{ ns2.c|trim }}
{%- endmacro %}
"""

QWEN3_5 = (
    QUERY
    + REASONING
    + """
{%- for m in messages %}
  {%- if m.role == 'tool' %}
    {%- if loop.previtem.role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}
    {{- '\\n<tool_response>\\n' ~ m.content ~ '\\n</tool_response>' }}
    {%- if loop.last or loop.nextitem.role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}
  {%- elif m.role == 'assistant' %}
    {%- set parts = split(m).split('context') %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if loop.index0 > ns.query %}{{ '<think>\\n' ~ parts[0] ~ '\\n</think>\\n\\n' }}{% endif %}
    {{- parts[1] }}
    {%- for call in m.tool_calls or [] %}
      {{- ('\\n\\n' if parts[1] else '') if loop.first else '\\n' }}
      {{- '<tool_call>\\n<function=' ~ call.function.name ~ '>\\n' }}
      {%- for name, value in call.function.arguments|items %}
        {{- '<parameter=' ~ name ~ '>\\n' ~ (value if value is string else value|tojson) }}
        {{- '\\n</parameter>\\n' }}
      {%- endfor %}
      {{- '</function>\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
  {%- else %}
    {{- '<|im_start|>' ~ m.role ~ '\\n' ~ m.content|trim ~ '<|im_end|>\\n' }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
  {{- '<|im_start|>assistant\\n<think>\\n' }}
  {%- if enable_thinking is defined and not enable_thinking %}{{ '\\n</think>\\n\\n' }}{% endif %}
{%- endif %}
"""
)

QWEN3 = (
    QUERY
    + REASONING
    + """
{%- for m in messages %}
  {%- if m.role == 'tool' %}
    {%- if loop.previtem.role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}
    {{- '\\n<tool_response>\\n' ~ m.content ~ '\\n</tool_response>' }}
    {%- if loop.last or loop.nextitem.role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}
  {%- elif m.role == 'assistant' %}
    {%- set parts = split(m).split('context') %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if loop.index0 > ns.query and (loop.last or parts[0]) %}
      {{- '<think>\\n' ~ parts[0] ~ '\\n</think>\\n\\n' }}
    {%- endif %}
    {{- parts[1] }}
    {%- for call in m.tool_calls or [] %}
      {{- '\\n' if parts[1] or not loop.first else '' }}
      {{- '<tool_call>\\n{"name": "' ~ call.function.name ~ '", "arguments": ' }}
      {{- call.function.arguments|tojson ~ '}\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
  {%- else %}
    {{- '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
  {{- '<|im_start|>assistant\\n' }}
  {%- if enable_thinking is defined and not enable_thinking %}
    {{- '<think>\\n\\n</think>\\n\\n' }}
  {%- endif %}
{%- endif %}
"""
)

LLAMA3 = """
{{- bos_token }}
{%- set ns = namespace(system='') %}
{%- if messages[0].role == 'system' %}
  {%- set ns.system = messages[0].content|trim %}
  {%- set messages = messages[1:] %}
{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nCutting Knowledge Date: December 2023\\n' }}
{{- 'Today Date: 26 Jul 2024\\n\\n' ~ ns.system ~ '<|eot_id|>' }}
{%- for m in messages %}
  {{- '<|start_header_id|>' ~ ('ipython' if m.role == 'tool' else m.role) }}
  {{- '<|end_header_id|>\\n\\n' }}
  {%- if m.tool_calls %}
    {%- for call in m.tool_calls %}
      {{- '' if loop.first else '\\n' }}
      {{- '{"name": "' ~ call.function.name ~ '", "parameters": ' }}
      {{- call.function.arguments|tojson ~ '}' }}
    {%- endfor %}
  {%- else %}
    {{- m.content|tojson if m.role == 'tool' else m.content|trim }}
  {%- endif %}
  {{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
  {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

JINJAS = {"qwen3.6": QWEN3_5, "qwen3": QWEN3, "llama3": LLAMA3}
