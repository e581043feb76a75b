"""The same job by every Python package: publish Adult with ten records alike, and see whether the result is so.

Run it with a Python that has incrowd and the peers (make bench-python). Every measurement is a process of its own,
which reads the data before it is measured; then all results are judged alike, by counting groups with pandas alone.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from peers import measured

QUASI_IDENTIFIERS = ["age", "education", "marital-status", "occupation", "race", "workclass"]
SENSITIVE = "hours-per-week"
K, L, SHARE_LOST_MAX = 10, 3, 0.01
# What stands before a tree that predicts who works more than 40 hours.
PIPELINES = {"nothing": "nothing", "bins": "KBinsDiscretizer", "one level": "Anonymizer", "mondrian": 'Anonymizer(method="mondrian")'}
JOBS = {"k": f"k = {K}, at most {SHARE_LOST_MAX:.0%} of the records lost", "l": f"the same with l = {L}"}


def main():
    args = parse_arguments()
    if args.command == "publish":
        return print(json.dumps(publish(args)))
    if args.command == "judge":
        return print(json.dumps(judge(args)))
    if args.command == "verify":
        return print(json.dumps(verify(args)))
    if args.command == "learn":
        return print(json.dumps(learn(args)))
    return compare(args)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    for name, help in ("compare", "all of it"), ("publish", "one release"), ("judge", "what a release is"), \
            ("verify", "what verifying costs"), ("learn", "a pipeline of scikit-learn"):
        sub = commands.add_parser(name, help=help)
        sub.add_argument("data", type=Path, help="the folder with adult.csv and hierarchies/")
        sub.add_argument("--work", type=Path, default=Path("target/bench/python"))
        sub.add_argument("--repetitions", type=int, default=3)
        sub.add_argument("--by", choices=["incrowd", "anjana", "anonypy", "pycanon", *PIPELINES], default="incrowd")
        sub.add_argument("--job", choices=JOBS, default="k")
    return parser.parse_args()


def compare(args):
    args.work.mkdir(parents=True, exist_ok=True)
    results = {"python": sys.version.split()[0]}
    for job, what in JOBS.items():
        packages = ["incrowd", "anjana", "anonypy"]
        # Interleaved, so that whatever else the machine does hits all alike.
        runs = [(by, run("publish", args, by, job)) for _ in range(args.repetitions) for by in packages]
        print(f"\nAdult, six quasi-identifiers, {what}\n")
        print(f"{'':10}{'CPU s':>9}{'peak MB':>9}{'k':>6}{'l':>5}{'lost':>8}{'groups':>8}  is it what it claims?")
        for by in packages:
            of = [result for name, result in runs if name == by]
            if any("error" in result for result in of):
                print(f"{by:10}  failed: {next(result['error'] for result in of if 'error' in result)}")
                results[f"{job}, {by}"] = of
                continue
            found = run("judge", args, by, job)
            cpu = statistics.median(result["cpu_s"] for result in of)
            peak = max(result["peak_mb"] for result in of)
            results[f"{job}, {by}"] = {"cpu_s": cpu, "peak_mb": peak, **found}
            print(f"{by:10}{cpu:9.2f}{peak:9.0f}{found['k']:6}{found['l']:5}{found['lost']:8.2%}{found['n_groups']:8}  "
                  f"{found['is_so']}")
    print("\nVerifying incrowd's release of the second job for k, l and t\n")
    for by in "incrowd", "pycanon":
        of = [run("verify", args, by, "l") for _ in range(args.repetitions)]
        if any("error" in result for result in of):
            print(f"{by:10}  failed: {of[0].get('error')}")
            continue
        cpu = statistics.median(result["cpu_s"] for result in of)
        results[f"verify, {by}"] = {**of[0], "cpu_s": cpu}
        print(f"{by:10}{cpu:9.3f} s   k = {of[0]['k']}, l = {of[0]['l']}, t = {of[0]['t']:.6f}")
    print(f"\nA pipeline of scikit-learn on Adult, k = {K}: fitted with one half, asked about the other\n")
    print(f"{'before the tree':32}{'CPU s':>9}{'alike':>7}{'right':>8}")
    runs = [(by, run("learn", args, by, "k")) for _ in range(args.repetitions) for by in PIPELINES]
    for by, what in PIPELINES.items():
        of = [result for name, result in runs if name == by]
        if any("error" in result for result in of):
            print(f"{what:32}  failed: {next(result['error'] for result in of if 'error' in result)}")
            continue
        results[f"learn, {by}"] = {**of[0], "cpu_s": statistics.median(result["cpu_s"] for result in of)}
        print(f"{what:32}{results[f'learn, {by}']['cpu_s']:9.2f}{of[0]['alike']:7}{of[0]['right']:8.1%}")
    (args.work / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def run(command, args, by, job):
    words = [sys.executable, __file__, command, args.data, "--work", args.work, "--by", by, "--job", job]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["it said nothing"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def read(args):
    """Adult without records that lack a value, and only the columns of the job."""
    import pandas as pd

    data = pd.read_csv(args.data / "adult.csv", na_values=["?"]).dropna()
    return data[[*QUASI_IDENTIFIERS, SENSITIVE]].reset_index(drop=True)


def release_path(args):
    return args.work / f"{args.by}-{args.job}.pickle"


def publish(args):
    data = read(args)
    result = {}
    make = {"incrowd": by_incrowd, "anjana": by_anjana, "anonypy": by_anonypy}[args.by](args, data)
    with measured(result):
        release = make()
    release.to_pickle(release_path(args))
    return result


def by_incrowd(args, data):
    import incrowd as ic

    rules = {name: args.data / "hierarchies" / f"{name}.csv" for name in QUASI_IDENTIFIERS}
    asked = {"k": K, "max_suppressed": SHARE_LOST_MAX} | ({"l": L} if args.job == "l" else {})

    def make():
        # With everything that publishing does: annotating all schemes, negotiating, writing, verifying.
        return ic.Table(data, rules, sensitive=SENSITIVE).publish(**asked).to_pandas()

    return make


def by_anjana(args, data):
    import pandas as pd
    from anjana.anonymity import k_anonymity, l_diversity

    rules = {
        name: dict(pd.read_csv(args.data / "hierarchies" / f"{name}.csv", header=None, sep=";"))
        for name in QUASI_IDENTIFIERS
    }
    lost = 100 * SHARE_LOST_MAX
    if args.job == "k":
        return lambda: k_anonymity(data, [], QUASI_IDENTIFIERS, K, lost, rules)
    return lambda: l_diversity(data, [], QUASI_IDENTIFIERS, SENSITIVE, K, L, lost, rules)


def by_anonypy(args, data):
    import anonypy
    import pandas as pd

    for name in QUASI_IDENTIFIERS[1:]:
        data[name] = data[name].astype("category")

    def make():
        preserver = anonypy.Preserver(data, QUASI_IDENTIFIERS, SENSITIVE)
        rows = preserver.anonymize_k_anonymity(K) if args.job == "k" else preserver.anonymize_l_diversity(K, L)
        # It gives a row per sensitive value of a group, with how many there are.
        table = pd.DataFrame(rows)
        return table.loc[table.index.repeat(table["count"])].drop(columns="count").reset_index(drop=True)

    return make


def judge(args):
    """What a release is, by counting its groups and nothing else."""
    import pandas as pd

    n_records = len(read(args))
    release = pd.read_pickle(release_path(args)).astype({name: str for name in QUASI_IDENTIFIERS})
    groups = release.groupby(QUASI_IDENTIFIERS)
    sizes, distinct = groups.size(), groups[SENSITIVE].nunique()
    lost = (n_records - len(release)) / n_records
    wrong = []
    if sizes.min() < K:
        wrong.append(f"{sizes[sizes < K].sum()} records have fewer than {K} alike")
    if args.job == "l" and distinct.min() < L:
        wrong.append(f"{sizes[distinct < L].sum()} records have fewer than {L} values among those alike")
    if lost > SHARE_LOST_MAX:
        wrong.append("more records are lost than allowed")
    if len(release) > n_records:
        wrong.append("there are more records than there were")
    return {"k": int(sizes.min()), "l": int(distinct.min()), "lost": lost, "n_groups": len(sizes),
            "n_columns": len(release.columns), "is_so": "yes" if not wrong else "NO: " + "; ".join(wrong)}


def verify(args):
    import pandas as pd

    release = pd.read_pickle(args.work / f"incrowd-{args.job}.pickle")
    release = release.astype({name: str for name in QUASI_IDENTIFIERS})
    result = {}
    if args.by == "incrowd":
        import incrowd as ic

        with measured(result):
            verdict = ic.verify(release, QUASI_IDENTIFIERS, sensitive=SENSITIVE, k=2, l=2, t=0.999999)
        return result | {name: finding.reached for name, finding in verdict.criteria.items()}
    from pycanon import anonymity

    with measured(result):
        k = anonymity.k_anonymity(release, QUASI_IDENTIFIERS)
        l = anonymity.l_diversity(release, QUASI_IDENTIFIERS, [SENSITIVE])
        t = anonymity.t_closeness(release, QUASI_IDENTIFIERS, [SENSITIVE])
    return result | {"k": int(k), "l": int(l), "t": float(t)}


def learn(args):
    """What a pipeline costs, how many records are alike in what the tree sees, and how often it is right."""
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    data = read(args).sample(frac=1, random_state=1)
    X, y = data[QUASI_IDENTIFIERS], data[SENSITIVE] > 40
    half = len(X) // 2
    if args.by == "nothing":
        before = FunctionTransformer()
    elif args.by == "bins":
        bins = KBinsDiscretizer(8, encode="ordinal", strategy="quantile")
        before = make_column_transformer((bins, ["age"]), remainder="passthrough", verbose_feature_names_out=False)
        before.set_output(transform="pandas")
    else:
        import incrowd as ic

        rules = {name: args.data / "hierarchies" / f"{name}.csv" for name in QUASI_IDENTIFIERS}
        asked = {"method": "mondrian"} if args.by == "mondrian" else {"max_suppressed": SHARE_LOST_MAX}
        before = ic.Anonymizer(rules, k=K, **asked)
    texts = make_column_selector(dtype_include=[object, "string"])
    coded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    pipeline = make_pipeline(before, coded, DecisionTreeClassifier(max_depth=8, random_state=1))
    result = {}
    with measured(result):
        pipeline.fit(X[:half], y[:half])
        right = pipeline.score(X[half:], y[half:])
    # A record that is hidden is empty, and alone with nobody.
    seen = pd.DataFrame(pipeline[:1].transform(X[:half])).dropna(how="all").astype(str)
    return result | {"right": float(right), "alike": int(seen.groupby(list(seen.columns)).size().min())}


if __name__ == "__main__":
    main()
