"""Policies: where to checkpoint, what to admit, what to evict. One file a policy."""

import simulator.base.compiled  # noqa: F401 - before any module that it may turn away
