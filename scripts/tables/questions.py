"""The queries over each table, and the target speedup over the best peer."""

G1 = {
    "q1": ("select id1, sum(v1) a from t group by id1", 2.5),
    "q2": ("select id1, id2, sum(v1) a from t group by id1, id2", 5),
    "q3": ("select id3, sum(v1) a, avg(v3) b from t group by id3", 5),
    "q4": ("select id4, avg(v1) a, avg(v2) b, avg(v3) c from t group by id4", 2.5),
    "q5": ("select id6, sum(v1) a, sum(v2) b, sum(v3) c from t group by id6", 4),
    "q6": ("select id4, id5, median(v3) a, stddev(v3) b from t group by id4, id5", 2.5),
    "q7": ("select id3, max(v1) - min(v2) a from t group by id3", 5),
    "q8": ("select id6, top(v3, 2) a from t group by id6", 4),
    "q9": ("select id2, id4, power(corr(v1, v2), 2) a from t group by id2, id4", 2.5),
    "q10": ("select id1, id2, id3, id4, id5, id6, sum(v3) a, count(*) b from t group by id1, id2, id3, id4, id5, id6", 4),
}

LINEITEM = {
    "TPC-H Q1": (
        "select l_returnflag, l_linestatus, sum(l_quantity) a, sum(l_extendedprice) b, sum(l_extendedprice * (1 - l_discount)) c, "
        "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) d, avg(l_quantity) e, avg(l_extendedprice) f, avg(l_discount) g, "
        "count(*) h from t where l_shipdate <= date '1998-09-02' group by l_returnflag, l_linestatus",
        3,
    ),
    "TPC-H Q6": (
        "select sum(l_extendedprice * l_discount) a from t where l_shipdate >= date '1994-01-01' and "
        "l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24",
        2,
    ),
    "by ship mode": ("select l_shipmode, count(*) a, avg(l_extendedprice) b from t group by l_shipmode", 2.5),
    "by month": ("select date_trunc('month', l_shipdate) m, sum(l_quantity) a from t group by 1", 5),
    "by supplier": ("select l_suppkey, sum(l_extendedprice) a from t group by l_suppkey", 3),
    "ten largest orders": ("select l_orderkey, sum(l_quantity) q from t group by l_orderkey order by q desc, l_orderkey limit 10", 4),
    "one order": ("select sum(l_quantity) a from t where l_orderkey = 6000000", 5),
    "like in text": ("select count(*) a from t where l_comment like '%special%requests%'", 2.5),
}

USERVISITS = {
    "2A": ("select substr(source_ip, 1, 8) k, sum(ad_revenue) a from t group by 1", 4),
    "2B": ("select substr(source_ip, 1, 10) k, sum(ad_revenue) a from t group by 1", 4),
    "2C": ("select substr(source_ip, 1, 12) k, sum(ad_revenue) a from t group by 1", 4),
    "country, five years": (
        "select country_code, avg(duration) a from t where visit_date between date '1990-01-01' and date '1994-12-31' group by 1",
        2,
    ),
    "search words": ("select search_word, count(*) a, sum(ad_revenue) b from t group by 1", 5),
    "distinct words": ("select country_code, count(distinct search_word) a from t group by 1", 10),
    "ten URLs": ("select dest_url, count(*) c from t group by 1 order by c desc, dest_url limit 10", 10),
    "like in a dictionary": ("select count(*) a from t where user_agent like '%Firefox%'", 5),
}

QUESTIONS = {"g1": G1, "lineitem": LINEITEM, "uservisits": USERVISITS}

# These read so little that startup and opening dominate: the peers' whole processes are timed as well.
WHOLE_PROCESS = {"one order"}

# Engine-specific replacements in a query; None where the engine lacks the function.
IN_OTHER_WORDS = {
    ("duckdb", "q8"): "select id6, array_to_string(max(v3, 2), ', ') a from t group by id6",
    ("datafusion", "q8"): None,
    ("polars", "q8"): None,
    ("chdb", "q8"): "select id6, arrayStringConcat(arrayMap(x -> toString(x), arrayReverseSort(groupArraySorted(2)(-v3))), ', ') a from t group by id6",
    ("polars", "by month"): None,
}


def asked(engine, name, question):
    """The query for an engine; None if the engine cannot run it."""
    return IN_OTHER_WORDS.get((engine.split("-")[0], name), question)
