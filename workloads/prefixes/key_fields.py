"""Names of the fields that belong to the isolation key of a prefix, and their values."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

NAMES: dict[str, tuple[str, ...]] = {
    "salt": ("cache_salt", "salt", "extra_key", "cache_namespace"),
    "lora": (
        "lora_name",
        "lora_id",
        "lora_int_id",
        "lora_path",
        "lora_request",
        "lora_adapter",
        "lora",
        "adapter",
        "adapter_name",
        "adapter_id",
    ),
    "model": ("model", "model_name", "model_id", "gen_ai.request.model", "gen_ai.response.model"),
    "media": (
        "mm_hashes",
        "mm_hash",
        "multi_modal_hashes",
        "multi_modal_uuids",
        "mm_uuids",
        "multi_modal_data",
        "image",
        "images",
        "image_url",
        "image_urls",
        "image_files",
        "image_data",
        "audio",
        "audios",
        "video",
        "videos",
    ),
}
"""Kinds of keys, each with the field names that may hold it, in order of precedence."""

KINDS = tuple(NAMES)
_PLACES = {name: (kind, at) for kind, names in NAMES.items() for at, name in enumerate(names)}
_LORA_NAMES = ("lora_name", "name", "lora_int_id", "id", "lora_path")
_LONG = 200  # characters; longer values are hashed


class Keyed(msgspec.Struct, gc=False):
    """Base of records with the fields of salt, adapter and model."""

    model: Any = None
    model_name: Any = None
    model_id: Any = None
    cache_salt: Any = None
    salt: Any = None
    extra_key: Any = None
    cache_namespace: Any = None
    lora_name: Any = None
    lora_id: Any = None
    lora_int_id: Any = None
    lora_path: Any = None
    lora_request: Any = None
    lora_adapter: Any = None
    lora: Any = None
    adapter: Any = None
    adapter_name: Any = None
    adapter_id: Any = None

    def key(self) -> dict[str, Any]:
        """Return the fields of the isolation key that are set, by name."""
        fields = ((name, getattr(self, name)) for name in Keyed.__struct_fields__)
        return {name: value for name, value in fields if value is not None}


def place_of(name: str) -> tuple[str, int] | None:
    """Return the kind of isolation key that a field holds and its precedence, None for others.

    In a name with dots, such as an attribute's, only the last part counts.
    """
    plain = name.lower().replace("-", "_").replace(" ", "_")
    return _PLACES.get(plain) or _PLACES.get(plain.rpartition(".")[2])


def value_of(kind: str, raw: Any) -> str | None:
    """Return a key's value as text, hashed if it is long; None for an empty value."""
    if raw is None or raw in ("", [], {}):
        return None
    if kind == "lora":
        if raw is False or raw == 0:  # vLLM numbers adapters from 1
            return None
        if isinstance(raw, dict):
            named = (raw[name] for name in _LORA_NAMES if raw.get(name) not in (None, ""))
            raw = next(named, raw)
    text = raw if isinstance(raw, str) else msgspec.json.encode(raw, order="sorted").decode()
    if len(text) <= _LONG:
        return text
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
