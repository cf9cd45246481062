import pytest

RIDES = """ride,started,station,minutes,member,fare
1001,2024-05-01 07:58:10,Central,12,true,0.00
1002,2024-05-01 08:03:55,Harbour,35,false,4.50
1003,2024-05-01 08:05:20,Central,,true,0.00
1004,2024-05-01 17:41:02,Museum,18,false,3.25
1005,2024-05-02 07:49:33,Central,14,true,0.00
1006,2024-05-02 09:15:00,"Harbour, North",52,false,6.75
"""


@pytest.fixture
def rides(tmp_path):
    path = tmp_path / "rides.csv"
    path.write_text(RIDES)
    return path


@pytest.fixture(scope="session")
def numbers(tmp_path_factory):
    """A buren file of a million rows in several row groups."""
    import brc
    import pyarrow as pa

    path = tmp_path_factory.mktemp("numbers") / "numbers.buren"
    rows = range(1_000_000)
    table = pa.table({"n": rows, "s": [f"s{n % 100}" for n in rows], "f": [n / 7 for n in rows]})
    brc.write(table, path)
    return path
