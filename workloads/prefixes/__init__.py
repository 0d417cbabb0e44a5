"""Prompts, given as block keys, ranges of ids or tokens, turned into an interned prefix tree."""
