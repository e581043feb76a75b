"""Where things are, and the same table as a frame of every library."""

import datetime
import os
import pathlib
import random

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import incrowd as ic

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("INCROWD", ROOT / "target/debug/incrowd"))
ADULT = pathlib.Path(os.environ.get("ADULT", ROOT / "../shared/adult")).resolve()

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(scope="session")
def program():
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is absent: build it with cargo build --workspace")
    return PROGRAM


@pytest.fixture
def adult():
    if not (ADULT / "adult.csv").exists():
        pytest.skip(f"the Adult data are absent: {ADULT} has no adult.csv")
    return ADULT


def patients(n=400, seed=7):
    """Made-up patients as columns; the same for the same seed."""
    chance = random.Random(seed)
    towns = ["Paris", "Lyon", "Rome", "Milan"]
    return {
        "name": [f"person {i}" for i in range(n)],
        "age": [chance.randint(18, 90) for _ in range(n)],
        "zip": [f"{chance.randint(10, 14)}{chance.randint(0, 99):02}{chance.randint(0, 9)}" for _ in range(n)],
        "town": [chance.choice(towns) for _ in range(n)],
        "seen": [datetime.date(2024, 1, 1) + datetime.timedelta(days=chance.randint(0, 700)) for _ in range(n)],
        "ill": [chance.choice(["flu", "cold", "cancer", "gout"]) for _ in range(n)],
        "pay": [chance.randint(10, 60) * 100 for _ in range(n)],
    }


def roles():
    return {
        "quasi_identifiers": {
            "age": ic.intervals(5, 10, 20, origin=17),
            "zip": ic.mask(4),
            "town": {"Paris": "France", "Lyon": "France", "Rome": "Italy", "Milan": "Italy"},
            "seen": ic.dates("quarter", "year"),
        },
        "sensitive": "ill",
        "identifiers": "name",
        "other": "pay",
    }


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param](patients())


@pytest.fixture
def table(frame):
    return ic.Table(frame, **roles())


@pytest.fixture
def philosophers():
    return ROOT / "examples/ten_records"
