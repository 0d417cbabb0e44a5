"""Results over all workloads of a study: ranks, and how near policies come to foresight.

What holds in one workload at one capacity is told in its own section of a page.
"""

from reports.cross_workload.overview import Overview, overview_of

__all__ = ["Overview", "overview_of"]
