"""Conversion of text to tokens: tokenizers, stand-ins for unknown ones, and chat templates."""

from workloads.text.naming import tokenizer_for
from workloads.text.tokenizer import Tokenizer

__all__ = ["Tokenizer", "tokenizer_for"]
