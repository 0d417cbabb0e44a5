"""Text to tokens: tokenizers, stand-ins where there is none, and the chat template."""

from workloads.text.naming import tokenizer_for
from workloads.text.tokenizer import Tokenizer

__all__ = ["Tokenizer", "tokenizer_for"]
