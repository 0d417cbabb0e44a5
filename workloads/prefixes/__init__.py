"""Prompts in, an interned prefix tree out: keys of blocks or runs, ranges of ids, tokens."""
