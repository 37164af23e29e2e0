//! `serve`: the HTTP daemon.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use tokio::sync::watch;

use super::with::With;
use super::{Context, exit, interrupt};
use crate::Result;
use crate::frontend::http;

/// Interpreters that wait for requests: one is made anew while another is in use.
const READY: usize = 2;

/// Serve the interpreter over HTTP on this machine, until Ctrl-C
///
/// GET /status, POST /execute {"instruction": "…"}, POST /v1/exec {"code": "…", "limits": {…}, "deterministic": true}.
/// The address is printed on stdout as soon as the daemon listens; the model loads in the background.
#[derive(Debug, Args)]
pub struct Serve {
    /// Port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 8085)]
    port: u16,

    /// Address to listen on; only this machine's own
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = loopback)]
    host: IpAddr,

    #[command(flatten)]
    with: With,
}

impl Serve {
    pub fn execute(self, context: &Context) -> Result<u8> {
        let packages = self.with.request()?;
        let mut config = context.config()?;
        config.capacity = config.capacity.ready(READY);
        let (stop, stopped) = watch::channel(false);
        interrupt::on_first(move || {
            stop.send_replace(true);
        })?;
        let address = SocketAddr::new(self.host, self.port);
        http::serve(config, packages, address, context.display.progress(), stopped, context)?;
        Ok(exit::OK)
    }
}

impl http::Listener for Context {
    /// On stdout, for scripts that asked for any free port.
    fn listening(&self, address: SocketAddr) {
        self.console.print(&format!("listening on http://{address}\n"));
    }

    fn loaded(&self, outcome: std::result::Result<String, String>) {
        self.display.clear();
        match outcome {
            Ok(model) => self.console.say(&format!("ready, with the model {model}")),
            Err(why) => self.console.warn(&format!("not all is ready: {why}")),
        }
    }
}

fn loopback(text: &str) -> Result<IpAddr, String> {
    let address = match text {
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => text.trim_matches(['[', ']']).parse().map_err(|_| "not an address".to_owned())?,
    };
    if address.is_loopback() {
        Ok(address)
    } else {
        Err("only addresses of this machine itself (127.0.0.1, ::1, localhost): the daemon has no login, and whoever \
             reaches it can run programs"
            .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_own_addresses_serve() {
        for own in ["127.0.0.1", "127.0.0.2", "::1", "[::1]", "localhost"] {
            assert!(loopback(own).is_ok(), "{own}");
        }
        for other in ["0.0.0.0", "::", "192.168.1.2", "example.org", ""] {
            assert!(loopback(other).is_err(), "{other}");
        }
        assert!(loopback("0.0.0.0").unwrap_err().contains("no login"));
    }
}
