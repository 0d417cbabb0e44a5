"""Reproduction of the figures in README, docs and headers of studies, checked against the text.

    python -m studies.figures                     # all of them, an hour of one core
    python -m studies.figures --list              # the parts: minutes, traces, where they are shown
    python -m studies.figures gallery losses      # some of them
    python -m studies.figures gallery --write     # new figures into documents and results/

A *part* (`gallery.py`, `evictions.py`, ...) runs commands from fixed seeds and returns figures,
which are stored in `results/PART.json`. A *block* is text in a document that is rendered from
`templates/NAME.md.j2` and the figures of parts. In Markdown it is between the lines

    <!-- figures: NAME -->
    <!-- end figures -->

and in the header of a study it is the paragraph "What it shows" (`templates/headers/`, by the path
of the study). To change a block, change its template. Public traces are found through
MILEPOST_SHARED; without it, parts that need them are skipped. The tests render every block from
`results/` and run the cheap parts again; this command runs the expensive ones too, and exits with 1
on any difference.

Not made here, since they are measured times, of this machine or of others: `benchmarks/README.md`;
docs/calibration.md, docs/prototype.md and studies/paper/README.md (fits, errors and times of
calibrations and prototypes); run times of studies and commands in README, docs and headers.

Not made here yet, although commands make them: docs/capacity.md on random queues (the tests of
`simulator/results/load.py` check the rule); docs/placement.md, the tree plans and times of section
4, the published logs of section 7 (tests check them), `fifo` under "Read with care";
docs/statistics.md, the table on coverage (made by `python -m studies.coverage`);
docs/workloads.md, the counts of texts below the table on twins and the tokens of the stand-in
tokenizer; whether a pair of policies that docs/evictions.md does not show is better in the whole
grids of studies/evictions.
"""
