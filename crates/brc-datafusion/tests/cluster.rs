//! Tests that results of a Ballista cluster equal those of one machine, for any executors, partitions and planners.

#![cfg(feature = "ballista")]
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use brc_datafusion::cluster::ballista::{on_cluster, rows_of};
use brc_datafusion::cluster::codec::PhysicalCodec;
use brc_datafusion::{AGGREGATE_OPTION, CLUSTER_OPTION, session};
use common::{Random, answer, convert, files, open, question, set};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::physical_plan::{ExecutionPlan, displayable};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time limit of each step.
const LIMIT: Duration = Duration::from_secs(300);

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A cluster on this machine, killed on drop.
struct Cluster {
    directory: TempDir,
    port: u16,
    scheduler: Child,
    executors: Vec<Child>,
}

impl Cluster {
    fn begin() -> Self {
        Self::begin_with("60")
    }

    /// Starts a scheduler; `silence` is the executor timeout in seconds.
    fn begin_with(silence: &str) -> Self {
        let port = free_port();
        let scheduler = Command::new(env!("CARGO_BIN_EXE_brc-scheduler"))
            .args(["--bind-host", "127.0.0.1", "--bind-port", &port.to_string(), "--log-level-setting", "ERROR"])
            .args(["--executor-timeout-seconds", silence, "--expire-dead-executor-interval-seconds", "1"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cluster = Self { directory: tempfile::tempdir().unwrap(), port, scheduler, executors: Vec::new() };
        wait(|| TcpStream::connect(cluster.address()).is_ok());
        cluster
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Adds an executor with two slots.
    fn grow(&mut self) {
        let ports = [free_port(), free_port(), free_port()].map(|port| port.to_string());
        let directory = self.directory.path().join(&ports[0]);
        std::fs::create_dir(&directory).unwrap();
        let executor = Command::new(env!("CARGO_BIN_EXE_brc-executor"))
            .args(["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1", "--scheduler-host", "127.0.0.1"])
            .args(["--scheduler-port", &self.port.to_string(), "--vcores", "2", "--log-level-setting", "ERROR"])
            .args(["--bind-port", &ports[0], "--bind-grpc-port", &ports[1], "--bind-health-port", &ports[2]])
            .args(["--executor-heartbeat-interval-seconds", "2", "--work-dir", directory.to_str().unwrap()])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.executors.push(executor);
        wait(|| self.known_executors() >= self.executors.len());
    }

    /// The number of executors known to the scheduler.
    fn known_executors(&self) -> usize {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.write_all(b"GET /api/executors HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.matches("\"host\"").count()
    }

    fn session(&self, parts: usize) -> SessionContext {
        on_cluster(&session(2), &self.address(), parts).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn wait(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "the condition was not met in time");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn register(context: &SessionContext, name: &str, path: &Path) {
    context.register_table(name, Arc::new(open(path, 2))).unwrap();
}

fn runtime() -> tokio::runtime::Runtime {
    // Unoptimised builds need large stacks for deep plans.
    let threads =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_stack_size(16 << 20).enable_all().build();
    threads.unwrap()
}

/// Runs a query, again if an executor is lost.
fn run_in_cluster(
    runtime: &tokio::runtime::Runtime,
    context: &SessionContext,
    question: &str,
) -> Result<Vec<String>, String> {
    let answer = async {
        let plan = context.state().create_logical_plan(question).await?;
        rows_of(context, plan).await?.try_collect::<Vec<_>>().await
    };
    let answer = runtime.block_on(async { tokio::time::timeout(LIMIT, answer).await }).expect("it takes too long");
    let text = pretty_format_batches(&answer.map_err(|error| error.to_string())?).unwrap().to_string();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    Ok(lines)
}

/// Runs a query with a time limit.
fn run(runtime: &tokio::runtime::Runtime, context: &SessionContext, question: &str) -> Result<Vec<String>, String> {
    let answer = async { tokio::time::timeout(LIMIT, answer(context, question, true)).await };
    runtime.block_on(answer).expect("it takes too long")
}

/// Writes files with many splits.
fn many_splits(directory: &Path) {
    let text: String = (0..60_000).map(|row| format!("{row},{},{}.{:02}\n", row % 7, row % 1000, row % 100)).collect();
    let [csv, buren, clustered] = ["m.csv", "m.buren", "c.buren"].map(|name| directory.join(name));
    std::fs::write(&csv, format!("id,k,d\n{text}")).unwrap();
    convert(&csv, &buren, &["--row-group", "64k", "--key", "none"]);
    convert(&csv, &clustered, &["--row-group", "64k", "--key", "k"]);
}

#[test]
fn executors_partitions_and_planners_do_not_change_results() {
    let (runtime, mut cluster, directory) = (runtime(), Cluster::begin(), tempfile::tempdir().unwrap());
    many_splits(directory.path());
    let questions = [
        "select count(*), sum(id), min(d), max(d), avg(d), avg(id) from t",
        "select k, count(*), sum(d), avg(d) from t group by k order by k",
        "select k, count(distinct d), sum(id) from t where id % 3 = 0 group by k",
        "select count(*), sum(t.id) from t join c on t.id = c.id and c.k < 3",
        "select d, count(*) as n from t where k = 5 group by d order by n desc, d limit 7",
        "select count(*) from t where id > 100000",
    ];
    let local = session(2);
    for (name, file) in [("t", "m.buren"), ("c", "c.buren")] {
        register(&local, name, &directory.path().join(file));
    }
    let expected = questions.map(|question| run(&runtime, &local, question).unwrap());
    for executors in 1..=3 {
        cluster.grow();
        for (parts, adaptive) in [1, 4, 16].into_iter().flat_map(|parts| [(parts, true), (parts, false)]) {
            let context = cluster.session(parts);
            let files = if parts == 4 { ["m.csv", "m.buren"] } else { ["m.buren", "c.buren"] };
            for (name, file) in ["t", "c"].into_iter().zip(files) {
                register(&context, name, &directory.path().join(file));
            }
            runtime.block_on(set(&context, "ballista.planner.adaptive.enabled", adaptive));
            for (question, expected) in questions.iter().zip(&expected) {
                let found = run(&runtime, &context, question);
                assert_eq!(
                    found.as_ref(),
                    Ok(expected),
                    "{executors} executors, {parts} parts, {adaptive}: {question}"
                );
            }
        }
    }
}

#[test]
fn random_queries_have_the_results_of_one_machine() {
    let (runtime, mut cluster, directory) = (runtime(), Cluster::begin(), tempfile::tempdir().unwrap());
    (0..2).for_each(|_| cluster.grow());
    let mut random = Random(0x6b8b_4567_327b_23c6);
    let (mut compared, mut grouped) = (0, 0);
    for path in files(&mut random, directory.path(), 3000) {
        let (local, context) = (session(2), cluster.session(5));
        [&local, &context].into_iter().for_each(|context| register(context, "t", &path));
        for _ in 0..15 {
            let question = question(&mut random);
            let (expected, found) = (run(&runtime, &local, &question), run(&runtime, &context, &question));
            assert_eq!(found.is_ok(), expected.is_ok(), "{}: {question}: {found:?} {expected:?}", path.display());
            compared += usize::from(expected.is_ok());
            assert_eq!(found.ok(), expected.ok(), "{}: {question}", path.display());
            let explained = run(&runtime, &context, &format!("explain {question}")).unwrap_or_default().concat();
            grouped += usize::from(explained.contains("aggregate=[select"));
        }
    }
    assert!(compared > 25 && grouped > 15, "{grouped} of {compared} are grouped by brc");
}

#[test]
fn executors_group_unless_disabled() {
    let (runtime, mut cluster, directory) = (runtime(), Cluster::begin(), tempfile::tempdir().unwrap());
    cluster.grow();
    many_splits(directory.path());
    let context = cluster.session(4);
    register(&context, "t", &directory.path().join("m.buren"));
    let question = "explain select k, count(*), avg(d) from t where id > 5 group by k";
    for adaptive in [true, false] {
        runtime.block_on(set(&context, "ballista.planner.adaptive.enabled", adaptive));
        let explained = run(&runtime, &context, question).unwrap().concat();
        assert!(explained.contains("file_type=brc, aggregate=[select"), "{explained}");
        runtime.block_on(set(&context, AGGREGATE_OPTION, false));
        let explained = runtime.block_on(answer(&context, question, false)).unwrap().concat();
        assert!(explained.contains("file_type=brc, where=["), "{explained}");
    }
}

#[test]
fn a_killed_executor_changes_no_result() {
    let (runtime, mut cluster, directory) = (runtime(), Cluster::begin_with("8"), tempfile::tempdir().unwrap());
    many_splits(directory.path());
    (0..3).for_each(|_| cluster.grow());
    let (local, context) = (session(2), cluster.session(16));
    [&local, &context].into_iter().for_each(|context| register(context, "t", &directory.path().join("m.csv")));
    let questions = [
        "select a.k, count(*), sum(b.d) from t a join t b on a.id = b.id group by a.k",
        "select id, row_number() over (partition by k order by id) as n from t where id % 100 = 3",
    ];
    let expected = questions.map(|question| run(&runtime, &local, question).unwrap());
    for delay in [30, 300, 900, 1500] {
        let killed = cluster.executors.pop().unwrap();
        let killer = std::thread::spawn(move || {
            let mut executor = killed;
            std::thread::sleep(Duration::from_millis(delay));
            executor.kill().and_then(|()| executor.wait())
        });
        for _ in 0..2 {
            for (question, expected) in questions.iter().zip(&expected) {
                let found = run_in_cluster(&runtime, &context, question);
                assert_eq!(found.as_ref(), Ok(expected), "killed after {delay} ms: {question}");
            }
        }
        killer.join().unwrap().unwrap();
        cluster.grow();
    }
}

#[test]
fn errors_are_reported_by_the_client() {
    let (runtime, mut cluster, directory) = (runtime(), Cluster::begin(), tempfile::tempdir().unwrap());
    cluster.grow();
    let path = directory.path().join("t.csv");
    std::fs::write(&path, "id,k\n1,2\n3,4\n").unwrap();
    let context = cluster.session(2);
    register(&context, "t", &path);
    assert!(run(&runtime, &context, "select sum(id) from t").is_ok());
    // The file changes after it was opened.
    std::fs::write(&path, "id,k\n1,2\n3,5\n5,6\n").unwrap();
    let refused = run(&runtime, &context, "select sum(id) from t").unwrap_err();
    assert!(refused.contains("t.csv") && refused.contains("another file"), "{refused}");
    let [bad, large] =
        [("bad.csv", "id,k\n1,2\n1,2,3\n".to_owned()), ("large.csv", format!("id\n{0}\n{0}\n", i64::MAX))].map(
            |(name, text)| {
                let path = directory.path().join(name);
                std::fs::write(&path, text).unwrap();
                path
            },
        );
    let arguments = ["--cluster", &cluster.address()];
    for (question, code, expected) in [
        (format!("select sum(id) from '{}'", bad.display()), 3, "bad.csv: line 3, byte 9: 3 columns instead of 2"),
        (format!("select sum(id) from '{}'", large.display()), 1, "18446744073709551614 is out of range"),
        (format!("copy (select * from '{}') to 'x.csv'", large.display()), 2, "copy does not run in a cluster"),
        ("create table q as select 1; select * from q".to_owned(), 2, "q: this table is held by the client"),
        ("select * from 'none.buren'".to_owned(), 1, "none.buren: cannot open"),
    ] {
        let ended = Command::new(env!("CARGO_BIN_EXE_brc-sql")).args(arguments).arg(&question).output().unwrap();
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), message.contains(expected)), (Some(code), true), "{question}: {message}");
    }
    let described = run_in_cluster(&runtime, &context, "describe t").unwrap().concat();
    assert!(described.contains("| id"), "{described}");
    assert!(run(&runtime, &context, "select 1").is_ok(), "the executor ended");
}

#[test]
fn functions_are_right_on_executors() {
    let (runtime, mut cluster, directory) = (runtime(), Cluster::begin(), tempfile::tempdir().unwrap());
    cluster.grow();
    for (number, rows) in
        [format!("a,{},1e0", i64::MAX), "a,-4,NaN\nb,1,3e0".to_owned(), "a,5,2e0".to_owned()].iter().enumerate()
    {
        std::fs::write(directory.path().join(format!("{number}.csv")), format!("k,x,f\n{rows}\n")).unwrap();
    }
    let (local, context) = (session(2), cluster.session(3));
    [&local, &context].into_iter().for_each(|context| register(context, "t", directory.path()));
    for question in [
        "select a.k, sum(a.x), avg(a.x), min(a.f), max(a.f) from t a join (select distinct k from t) b on a.k = b.k where a.x < 9 group by a.k",
        "select x, sum(x) over (partition by k order by x), max(f) over (partition by k) from t where x < 9",
        "select avg(distinct x), sum(distinct f), median(x) from t",
    ] {
        let expected = run(&runtime, &local, question).unwrap();
        assert_eq!(run(&runtime, &context, question), Ok(expected), "{question}");
    }
    let refused = run(&runtime, &context, "select k, sum(x), count(distinct f) from t group by k").unwrap_err();
    assert!(refused.contains("is out of range"), "{refused}");
}

#[test]
fn plans_that_cannot_be_sent_reach_no_executor() {
    let (runtime, mut cluster, directory) = (runtime(), Cluster::begin(), tempfile::tempdir().unwrap());
    cluster.grow();
    many_splits(directory.path());
    let (local, context) = (session(2), cluster.session(2));
    [&local, &context].into_iter().for_each(|context| register(context, "t", &directory.path().join("m.buren")));
    // Each task of a cluster would read all rows of such a leaf, so it is refused.
    let leaf =
        runtime.block_on(async { local.sql("select id from t").await.unwrap().create_physical_plan().await.unwrap() });
    let codec = PhysicalCodec::new(Arc::new(BallistaPhysicalExtensionCodec::default()));
    let refused = codec.check(&leaf, &local.task_ctx()).unwrap_err().to_string();
    assert!(refused.contains("BrcScan"), "{refused}");
    let scan = runtime.block_on(async {
        set(&local, CLUSTER_OPTION, true).await;
        local.sql("select id from t where k = 2").await.unwrap().create_physical_plan().await.unwrap()
    });
    let again = codec.check(&scan, &local.task_ctx()).unwrap();
    let shown = |plan: &Arc<dyn ExecutionPlan>| displayable(plan.as_ref()).indent(true).to_string();
    assert_eq!(shown(&again), shown(&scan));
    // The scheduler does not know this function.
    let function = |values: &[ColumnarValue]| Ok(values[0].clone());
    let types = (vec![DataType::Int64], DataType::Int64);
    context.register_udf(create_udf("own", types.0, types.1, Volatility::Immutable, Arc::new(function)));
    let refused = run(&runtime, &context, "select sum(own(id)) from t").unwrap_err();
    assert!(refused.contains("own"), "{refused}");
    assert!(run(&runtime, &context, "select sum(id) from t").is_ok());
}
