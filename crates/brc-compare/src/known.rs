//! Named benchmark queries, for the tables made by `brc generate` and by the generators of TPC-H.

/// A named query.
pub struct KnownQuery {
    /// The name, as in `--query`.
    pub name: &'static str,
    /// The query in SQL.
    pub sql: &'static str,
}

/// All named queries, in the order of the help text.
pub static KNOWN_QUERIES: &[KnownQuery] = &[
    KnownQuery { name: "2a", sql: "select substr(source_ip, 1, 8), sum(ad_revenue) group by 1" },
    KnownQuery { name: "2b", sql: "select substr(source_ip, 1, 10), sum(ad_revenue) group by 1" },
    KnownQuery { name: "2c", sql: "select substr(source_ip, 1, 12), sum(ad_revenue) group by 1" },
    KnownQuery { name: "g1-q1", sql: "select id1, sum(v1) group by id1" },
    KnownQuery { name: "g1-q2", sql: "select id1, id2, sum(v1) group by id1, id2" },
    KnownQuery { name: "g1-q3", sql: "select id3, sum(v1), avg(v3) group by id3" },
    KnownQuery { name: "g1-q4", sql: "select id4, avg(v1), avg(v2), avg(v3) group by id4" },
    KnownQuery { name: "g1-q5", sql: "select id6, sum(v1), sum(v2), sum(v3) group by id6" },
    KnownQuery { name: "g1-q6", sql: "select id4, id5, median(v3), stddev_samp(v3) group by id4, id5" },
    KnownQuery { name: "g1-q7", sql: "select id3, max(v1) - min(v2) as range_v1_v2 group by id3" },
    KnownQuery { name: "g1-q8", sql: "select id6, top(v3, 2) group by id6" },
    KnownQuery { name: "g1-q9", sql: "select id2, id4, power(corr(v1, v2), 2) as r2 group by id2, id4" },
    KnownQuery {
        name: "g1-q10",
        sql: "select id1, id2, id3, id4, id5, id6, sum(v3), count(*) group by id1, id2, id3, id4, id5, id6",
    },
    KnownQuery {
        name: "tpch-q1",
        sql: "select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, sum(l_extendedprice) as sum_base_price, \
              sum(l_extendedprice * (1 - l_discount)) as sum_disc_price, \
              sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge, avg(l_quantity) as avg_qty, \
              avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc, count(*) as count_order \
              where l_shipdate <= date '1998-09-02' group by l_returnflag, l_linestatus order by 1, 2",
    },
    KnownQuery {
        name: "tpch-q6",
        sql: "select sum(l_extendedprice * l_discount) as revenue where l_shipdate >= date '1994-01-01' \
              and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24",
    },
];

impl KnownQuery {
    /// The query with the given name, ignoring case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        KNOWN_QUERIES.iter().find(|query| query.name.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Schema;
    use brc_query::Query;

    #[test]
    fn the_queries_can_be_planned() {
        let schema = "source_ip:string,ad_revenue:decimal(18,2),id1:string,id2:string,id3:string,id4:int64,id5:int64,id6:int64,\
            v1:int64,v2:int64,v3:decimal(18,6),l_returnflag:string,l_linestatus:string,l_quantity:decimal(18,2),\
            l_extendedprice:decimal(18,2),l_discount:decimal(18,2),l_tax:decimal(18,2),l_shipdate:date";
        let schema = Schema::parse(schema).unwrap();
        for query in KNOWN_QUERIES {
            let plan = Query::parse(query.sql).unwrap().plan(&schema);
            assert!(plan.is_ok(), "{}: {:?}", query.name, plan.err());
        }
    }
}
