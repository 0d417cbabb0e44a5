"""The figures in README, docs and headers of studies, made again and held against what is said.

    python -m studies.figures                     # all of them, an hour of one core
    python -m studies.figures --list              # the parts: minutes, traces, where they are shown
    python -m studies.figures gallery losses      # some of them
    python -m studies.figures gallery --write     # new figures into documents and results/

A *part* (`gallery.py`, `evictions.py`, ...) runs commands from fixed seeds and returns figures,
which stay in `results/PART.json`. A *block* is text of a document that is rendered from
`templates/NAME.md.j2` and the figures of parts: in Markdown what stands between

    <!-- figures: NAME -->
    <!-- end figures -->

and in the header of a study its paragraph "What it shows" (`templates/headers/`, by the path of the
study). A block is changed in its template. Public traces are found through MILEPOST_SHARED; parts
that need them are skipped without. The tests render every block from `results/` and make the
cheap parts anew; this command makes the dear ones anew too, and exits with 1 on any difference.

Not made here, since they are measured times, of this machine or of others: `benchmarks/README.md`;
docs/calibration.md, docs/prototype.md and studies/paper/README.md (fits, errors and times of
calibrations and prototypes); how long studies and commands take, in README, docs and headers.

Not made here yet, though commands make them: docs/capacity.md on random queues (the tests of
`simulator/results/load.py` hold the rule); docs/placement.md, the tree plans and times of section
4, the published logs of section 7 (tests hold them), `fifo` and small caches under "Read with
care";
docs/statistics.md, the table on coverage (made by `python -m studies.coverage`);
docs/workloads.md, the counts of texts below the table on twins and the tokens of the stand-in
tokenizer; whether a pair of policies that docs/evictions.md does not show is better in the whole
grids of studies/evictions.
"""
