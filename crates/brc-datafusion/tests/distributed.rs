//! Tests that results of datafusion-distributed equal those of one machine; it divides plans and scans differently than
//! Ballista.

#![cfg(feature = "distributed")]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use brc_datafusion::cluster::codec::PhysicalCodec;
use brc_datafusion::{CLUSTER_OPTION, register_functions, session};
use common::{Random, answer, files, open, plan, question, set};
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use datafusion_distributed::{DistributedExt, SessionStateBuilderExt, Worker, WorkerQueryContext, WorkerResolver};
use datafusion_proto::physical_plan::DefaultPhysicalExtensionCodec;
use std::sync::Arc;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use url::Url;

fn codec() -> PhysicalCodec {
    PhysicalCodec::new(Arc::new(DefaultPhysicalExtensionCodec {}))
}

/// Workers in this process.
struct Workers(Vec<Url>);

impl WorkerResolver for Workers {
    fn get_urls(&self) -> Result<Vec<Url>> {
        Ok(self.0.clone())
    }
}

async fn worker() -> Url {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let build = |query: WorkerQueryContext| async move {
        let mut state = query.builder.with_distributed_user_codec(codec()).build();
        register_functions(&mut state)?;
        Ok(state)
    };
    let server = Server::builder().add_service(Worker::from_session_builder(build).into_worker_server());
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    url
}

#[test]
fn workers_give_the_results_of_one_machine() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_stack_size(16 << 20).enable_all().build();
    let (runtime, directory) = (runtime.unwrap(), tempfile::tempdir().unwrap());
    let urls = runtime.block_on(async { vec![worker().await, worker().await, worker().await] });
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut compared, mut distributed) = (0, 0);
    for path in files(&mut random, directory.path(), 20_000) {
        let local = session(3);
        let state = SessionStateBuilder::new_from_existing(session(3).state())
            .with_distributed_worker_resolver(Workers(urls.clone()))
            .with_distributed_user_codec(codec())
            .with_distributed_planner()
            .with_distributed_file_scan_config_bytes_per_partition(1)
            .unwrap();
        let context = SessionContext::new_with_state(state.build());
        runtime.block_on(set(&context, CLUSTER_OPTION, true));
        for context in [&local, &context] {
            context.register_table("t", Arc::new(open(&path, 3))).unwrap();
        }
        for _ in 0..20 {
            let question = question(&mut random);
            let found = runtime.block_on(answer(&context, &question, true));
            let expected = runtime.block_on(answer(&local, &question, true));
            assert_eq!(found.is_ok(), expected.is_ok(), "{}: {question}: {found:?} {expected:?}", path.display());
            compared += usize::from(expected.is_ok());
            assert_eq!(found.ok(), expected.ok(), "{}: {question}", path.display());
            distributed += usize::from(runtime.block_on(plan(&context, &question)).contains("Distributed"));
        }
    }
    assert!(compared > 30 && distributed > 10, "{distributed} of {compared} are distributed");
}
