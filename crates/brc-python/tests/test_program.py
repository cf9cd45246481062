"""Tests of `python -m brc`, the type stubs and the documentation examples."""

import doctest
import json
import os
import pathlib
import subprocess
import sys

import brc
import pytest


def program(*arguments, **options):
    command = [sys.executable, "-m", "brc", *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **options)


def test_the_program_runs(rides, tmp_path):
    ran = program("query", rides, "select max(ride)", "--format", "csv")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "max(ride)\n1006\n", "")
    assert program("--version").stdout == f"brc {brc.__version__}\n"
    assert program("query", rides, "select nothing").returncode == 2
    assert program("head", tmp_path / "nothing").returncode == 1
    assert program("query", "-", "select sum(a)", "--format", "csv", input="a\n1\n2\n").stdout == "sum(a)\n3\n"
    assert "--metrics" in program("--help").stdout


def test_comparisons_are_tables(rides, tmp_path):
    table = brc.compare(
        rides, encodings=["buren", "csv"], compressions="none", runs=1, convert_runs=1, warmup=0, query="--by station", out=tmp_path / "out"
    )
    found = table.scan().to_arrow().to_pylist()
    assert {row["encoding"] for row in found} == {"buren", "csv"}
    assert (tmp_path / "out" / "report.html").exists()
    with pytest.raises(brc.UsageError):
        brc.compare(rides, encodings=["nothing"])
    with pytest.raises(FileNotFoundError) as raised:
        brc.compare(tmp_path / "nothing.csv", runs=1)
    assert raised.value.filename == str(tmp_path / "nothing.csv")
    with pytest.raises(brc.UsageError) as raised:
        brc.compare(rides, nothing=1)
    assert str(raised.value).startswith("unexpected argument '--nothing' found") and "Usage" not in str(raised.value)


def test_options_are_those_of_the_command_line(tmp_path):
    words = brc._brc.option_words(
        header=False, trim=True, quote=False, cold=True, keep=False, query=["2a", "--by x"], encodings=["buren", "csv"],
        compressions=["zstd:9", "none"], types={"a b": "int64"}, encoding="csv",
    )
    assert words == [
        "--header=no", "--trim=yes", "--quote=none", "--cold", "--query=2a", "--query=--by x", "--encodings=buren,csv",
        "--compressions=zstd:9,none", "--type=a b=int64", "--from=csv",
    ]
    named = tmp_path / "named.buren"
    named.write_text("a;b\n1;2\n")
    assert brc.sniff(named, encoding="csv").dialect["delimiter"] == "';'"


def test_the_examples_run():
    found = doctest.testmod(brc)
    assert found.attempted > 12 and found.failed == 0
    for module in (brc._brc, brc._polars):
        found = doctest.testmod(module, globs={"brc": brc})
        assert found.attempted > 1 and found.failed == 0


def test_the_examples_of_the_readme_run(rides, monkeypatch):
    monkeypatch.chdir(rides.parent)
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    found = doctest.testfile(str(readme), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 10 and found.failed == 0


def test_the_stubs_are_right():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "brc", "--ignore-missing-stub"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout


def test_type_checkers_know_the_types():
    pytest.importorskip("mypy")
    package = pathlib.Path(brc.__file__).parent.parent
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", str(pathlib.Path(__file__).parent / "typed.py")]
    environment = {**os.environ, "MYPYPATH": str(package)} if "site-packages" not in package.parts else dict(os.environ)
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, env=environment)
    assert ran.returncode == 0, ran.stdout


def test_pyright_knows_the_types(tmp_path):
    pytest.importorskip("basedpyright")
    package = pathlib.Path(brc.__file__).parent
    readme = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    examples = tmp_path / "examples.py"
    examples.write_text("\n".join(example.source for example in doctest.DocTestParser().get_examples(readme)))
    files = [str(pathlib.Path(__file__).parent / "typed.py"), str(examples), *map(str, package.glob("*.pyi"))]
    # Examples use bare expressions, DuckDB results may be None, and some libraries have no stubs.
    lenient = dict.fromkeys(["reportUnusedExpression", "reportOptionalMemberAccess", "reportMissingTypeStubs"], False)
    rules = {"typeCheckingMode": "strict", **lenient}
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"include": files, "extraPaths": [str(package.parent)], **rules})
    )
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout


def test_nothing_else_is_needed():
    code = """
import sys
import brc
assert not {"pyarrow", "polars", "pandas", "numpy"} & set(sys.modules)
table = brc.open(b"a,b\\n1,x\\n")
assert table.query("select *").rows() == [(1, "x")] and repr(table)
assert not {"pyarrow", "polars", "pandas", "numpy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
