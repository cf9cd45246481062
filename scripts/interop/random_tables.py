"""Random tables with columns of random types, as pyarrow tables."""

import struct
import uuid
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa

WORDS = ["Oslo", "Bergen", "São Paulo", "İzmir", "日本", "naïve", "null", "NaN", "true", "-", "0x1f", "007", "+1", "1,5"]
ODD = [",", ";", "\t", "|", '"', "'", "\n", "\r\n", "#", "\\", " ", "  ", '""', "a", "b", "é", "😀", "//", "--"]


def _integers(rng, limit, positive=False):
    low = 0 if positive else -limit
    return lambda: rng.randint(low, limit)


def _decimals(rng):
    precision = rng.choice([3, 9, 18, 30, 38])
    scale = rng.randint(1, precision - 1)
    limit = 10 ** rng.randint(1, precision) - 1
    value = lambda: Decimal((rng.randrange(2), tuple(map(int, str(rng.randint(0, limit)))), -scale))
    return pa.decimal128(precision, scale), value


def _texts(rng):
    def text():
        return "".join(rng.choice(ODD) for _ in range(rng.randint(1, 8)))

    return text


def _moments(rng):
    start = datetime(1950, 1, 1)
    step = rng.choice([timedelta(seconds=1), timedelta(milliseconds=1), timedelta(microseconds=1)])
    return lambda: start + timedelta(days=rng.randrange(36500)) + step * rng.randrange(86_400)


def _short_floats(rng):
    """32-bit floats, widened to Python's floats."""
    kinds = [lambda: rng.randint(-99_999, 99_999) / 100, rng.random, lambda: rng.uniform(-3e38, 3e38), lambda: 1.1]
    return lambda: struct.unpack("f", struct.pack("f", rng.choice(kinds)()))[0]


def _uuids(rng):
    few = [uuid.UUID(int=rng.getrandbits(128)).bytes for _ in range(5)]
    ends = [bytes(16), b"\xff" * 16]
    return lambda: rng.choice([rng.choice(few), rng.choice(ends), uuid.UUID(int=rng.getrandbits(128), version=4).bytes])


def _columns(rng):
    """The type and value generator of each kind of column."""
    words = rng.sample(WORDS, 6)
    return {
        "small integers": (pa.int32(), _integers(rng, 100)),
        "integers": (pa.int64(), _integers(rng, 2**63 - 1)),
        "large integers": (pa.uint64(), _integers(rng, 2**64 - 1, positive=True)),
        "decimals": _decimals(rng),
        "floats": (pa.float64(), lambda: rng.choice([rng.random(), rng.uniform(-1e300, 1e300), float(rng.randint(-9, 9))])),
        "short floats": (pa.float32(), _short_floats(rng)),
        "uuids": (pa.uuid(), _uuids(rng)),
        "booleans": (pa.bool_(), lambda: rng.random() < 0.5),
        "dates": (pa.date32(), lambda: date(1900, 1, 1) + timedelta(days=rng.randrange(80_000))),
        "times": (pa.time64("us"), lambda: time(rng.randrange(24), rng.randrange(60), rng.randrange(60))),
        "timestamps": (pa.timestamp("us"), _moments(rng)),
        "words": (pa.string(), lambda: rng.choice(words)),
        "odd texts": (pa.string(), _texts(rng)),
        "long texts": (pa.string(), lambda: "long text " * rng.randint(0, 200)),
        "nothing": (pa.string(), lambda: None),
    }


def random_table(rng):
    """A table with at least one non-string column, so that a header can be detected."""
    kinds = _columns(rng)
    # A UUID in a text is a string.
    typed = [name for name, (kind, _) in kinds.items() if not pa.types.is_string(kind) and kind != pa.uuid()]
    chosen = [rng.choice(typed), *rng.choices(list(kinds), k=rng.randint(1, 7))]
    rng.shuffle(chosen)
    rows = rng.choice([rng.randint(3, 10), rng.randint(10, 100), rng.randint(100, 1500)])
    columns = {}
    for number, name in enumerate(chosen):
        kind, value = kinds[name]
        nulls = rng.choice([0, 0, 0.1, 0.5])
        values = [None if rng.random() < nulls else value() for _ in range(rows)]
        columns[f"{rng.choice(['a', 'Größe', 'in stock', 'x'])}_{chr(97 + number)}"] = pa.array(values, kind)
    return pa.table(columns)
