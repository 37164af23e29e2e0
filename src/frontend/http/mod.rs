//! The HTTP daemon: this machine only, every request checked before it is read, work on threads of a bounded number.
//!
//! A route is a file; a handler reads its request, makes one call, and renders. `guard` decides who may speak, `body`
//! how much and how fast, `work` is the one bridge from async to the synchronous core, `state` what is loaded, `answers`
//! and `stall` how much waits for clients to read it and for how long.
//!
//! `/execute` ignores fields that it does not know, since clients of the first design may send more than this one has;
//! `/v1/exec` refuses them, so that a misspelt limit is not taken for none. Of `/execute`, only a model that failed at
//! once is a 500: what came before it failed is an answer, whose `stop_reason` is `model_error`.

mod answers;
mod body;
mod callers;
mod connections;
mod exec;
mod execute;
mod guard;
mod problem;
mod refusal;
mod stall;
mod state;
mod status;
mod work;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::problem::Problem;
use self::state::App;
use crate::error::OrInternal;
use crate::{Cancel, Config, Error, PackageRequest, Progress, Result};

/// Threads for requests' headers and bodies, which are little work.
const ASYNC_THREADS: usize = 2;
/// How long what is under way may take to end once the daemon is asked to stop.
const FAREWELL: Duration = Duration::from_secs(5);

/// Who is told how the daemon fares.
pub trait Listener: Sync {
    /// Connections are taken at this address.
    fn listening(&self, address: SocketAddr);
    /// What can be loaded is loaded: the model of this name, or an error that leaves the daemon without one.
    fn loaded(&self, outcome: Result<String, String>);
}

/// Serves until `stopped` turns true.
pub fn serve(
    config: Config,
    packages: PackageRequest,
    address: SocketAddr,
    progress: Progress,
    stopped: watch::Receiver<bool>,
    listener: &dyn Listener,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ASYNC_THREADS)
        .enable_all()
        .build()
        .or_internal("cannot start the daemon's threads")?;
    let socket = runtime.block_on(TcpListener::bind(address)).map_err(|error| {
        Error::usage(error)
            .context(format!("cannot listen on {address}"))
            .advise("--port 0 takes any free port, and the address is printed")
    })?;
    let address = socket.local_addr().or_internal("cannot tell the daemon's own address")?;
    let app = Arc::new(App::new(address.port(), config.model.clone(), stopped.clone()));
    listener.listening(address);

    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            app.load(config, &packages, &progress, &cancel);
            if !cancel.is_cancelled() {
                listener.loaded(app.loaded());
            }
        });
        runtime.block_on(connections::serve(socket, router(app.clone()), stopped, connections::PATIENCE));
        cancel.cancel();
    });
    runtime.shutdown_timeout(FAREWELL);
    Ok(())
}

/// Waits until the daemon is to stop.
async fn stop(mut stopped: watch::Receiver<bool>) {
    // An error says that nobody is left who could ask for it, which is an end too.
    let _ = stopped.wait_for(|&stopped| stopped).await;
}

/// Every route, behind the guard.
fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/status", get(status::status))
        .route("/execute", post(execute::execute))
        .route("/v1/exec", post(exec::exec))
        .fallback(async || Problem::not_found())
        .method_not_allowed_fallback(async || Problem::method())
        .layer(axum::middleware::from_fn(guard::check))
        .with_state(app)
}

#[cfg(test)]
mod tests;
