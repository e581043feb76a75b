"""Adult as integer codes per attribute and level, and the sums on which engines must agree."""

import csv
import itertools
import time

import numpy as np

QUASI_IDENTIFIERS = ["age", "workclass", "race", "occupation", "education", "marital-status"]
SENSITIVE = "hours-per-week"
MISSING = "?"
# The privacy values at which engines compare their results with each other.
K = 10
L = 3


class Adult:
    """The records without missing values, dictionary-encoded.

    `levels[i][j]` holds the codes of attribute i at level j and how many values they take;
    `sensitive` the codes of the sensitive attribute.
    """

    def __init__(self, data, hierarchies):
        started = time.perf_counter()
        with data.open(newline="", encoding="utf-8") as file:
            records = [r for r in csv.DictReader(file) if MISSING not in r.values()]
        self.n_records = len(records)
        self.levels = []
        for attribute in QUASI_IDENTIFIERS:
            with (hierarchies / f"{attribute}.csv").open(newline="", encoding="utf-8") as file:
                paths = {path[0]: path for path in csv.reader(file, delimiter=";") if path}
            paths = [paths[record[attribute]] for record in records]
            columns = [np.unique(labels, return_inverse=True) for labels in zip(*paths)]
            self.levels.append([(codes, len(labels)) for labels, codes in columns])
        labels, self.sensitive = np.unique([r[SENSITIVE] for r in records], return_inverse=True)
        self.n_sensitive = len(labels)
        self.load_s = round(time.perf_counter() - started, 3)

    def schemes(self):
        return itertools.product(*(range(len(levels)) for levels in self.levels))

    def columns(self):
        """One byte column per attribute and level, and the sensitive attribute as `s`."""
        columns = {
            column_name(attribute_idx, level): codes.astype(np.uint8)
            for attribute_idx, levels in enumerate(self.levels)
            for level, (codes, n_values) in enumerate(levels)
            if n_values > 1
        }
        columns["s"] = self.sensitive.astype(np.uint8)
        return columns

    def keys(self, scheme):
        """The columns to group by; a level with a single value needs no grouping."""
        return [
            column_name(attribute_idx, level)
            for attribute_idx, level in enumerate(scheme)
            if self.levels[attribute_idx][level][1] > 1
        ]

    def combined_anew(self):
        """Yields every scheme's combined codes and their number of cells, from its six columns."""
        for scheme in self.schemes():
            codes, n_cells = np.zeros(self.n_records, dtype=np.int64), 1
            for levels, level in zip(self.levels, scheme):
                more, n_values = levels[level]
                codes = codes * n_values + more
                n_cells *= n_values
            yield codes, n_cells

    def combined_from_prefixes(self):
        """Yields the same, but schemes that begin alike share the work of the beginning."""
        yield from self._descend(0, np.zeros(self.n_records, dtype=np.int64), 1)

    def _descend(self, attribute_idx, codes, n_cells):
        if attribute_idx == len(self.levels):
            yield codes, n_cells
            return
        for more, n_values in self.levels[attribute_idx]:
            longer = codes if n_values == 1 else codes * n_values + more
            yield from self._descend(attribute_idx + 1, longer, n_cells * n_values)


def column_name(attribute_idx, level):
    return f"{QUASI_IDENTIFIERS[attribute_idx].replace('-', '_')}_{level}"


def run_lengths(ordered):
    """How often each value occurs: what np.unique does after sorting, without its extras."""
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])
    return np.diff(ends, prepend=-1, append=len(ordered) - 1)


class Tally:
    """Sums over all schemes, equal for any two engines that count correctly."""

    def __init__(self, with_l=False):
        self.with_l = with_l
        self.n_schemes = self.n_groups = self.n_suppressed_k = self.n_suppressed_l = 0

    def add(self, sizes, n_distinct=None):
        """Takes one scheme: its group sizes, and the distinct sensitive values of each group."""
        # The histograms are the product: every k and every l can be answered from them.
        n_groups_by_size = np.bincount(sizes, minlength=K)
        self.n_schemes += 1
        self.n_groups += int(n_groups_by_size.sum())
        self.n_suppressed_k += int(n_groups_by_size[:K] @ np.arange(K))
        if n_distinct is not None:
            n_records_by_distinct = np.bincount(n_distinct, weights=sizes, minlength=L)
            self.n_suppressed_l += int(n_records_by_distinct[:L].sum())

    def sums(self):
        sums = {
            "n_schemes": self.n_schemes,
            "n_groups_sum": self.n_groups,
            f"n_suppressed_sum_k{K}": self.n_suppressed_k,
        }
        if self.with_l:
            sums[f"n_suppressed_sum_l{L}"] = self.n_suppressed_l
        return sums
