//! The third role of a gate.

use tokio::time::timeout;

use super::{Gate, PATIENCE, Process};

/// The pages of a gate, as the shipped program shows them.
pub struct Pages {
    process: Process,
    bound: String,
    client: reqwest::Client,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Page {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Gate {
    /// Starts `web`, and returns when it listens.
    pub async fn start_pages(&mut self) -> Pages {
        let process = self.spawn("web", &[]);
        self.when_shown(process).await
    }

    /// Returns when `web` listens.
    pub async fn when_shown(&self, process: Process) -> Pages {
        process.says("showing pages on").await;
        let bound = std::fs::read_to_string(self.data().join("web.addr")).expect("the pages wrote their address");
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Pages { process, bound: bound.trim().to_owned(), client }
    }

    /// Where the link of the newest check run on a pull request leads, below the public address.
    pub fn details(&self, number: u64) -> Option<String> {
        let run = self.runs(number).into_iter().next().expect("there is a check run");
        let address = run.details_url?;
        let path = address.strip_prefix("https://gate.example.org").expect("the link begins with the public address");
        Some(path.to_owned())
    }
}

impl Pages {
    /// Where it listens, as `http://HOST:PORT`.
    pub fn address(&self) -> String {
        format!("http://{}", self.bound)
    }

    /// Reads a page.
    pub async fn get(&self, path: &str) -> Page {
        self.ask(self.client.get(format!("{}{path}", self.address()))).await
    }

    /// Reads a page with a cookie.
    pub async fn get_with(&self, path: &str, cookie: &str) -> Page {
        self.ask(self.client.get(format!("{}{path}", self.address())).header("cookie", cookie)).await
    }

    /// Sends a form from an origin.
    pub async fn post(&self, path: &str, origin: &str, cookie: &str, form: &str) -> Page {
        let request = self.client.post(format!("{}{path}", self.address()));
        let request = request.header("content-type", "application/x-www-form-urlencoded").header("origin", origin);
        self.ask(request.header("cookie", cookie).body(form.to_owned())).await
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Page {
        let answer = timeout(PATIENCE, request.send()).await.expect("a page comes in time").expect("a page comes");
        let status = answer.status().as_u16();
        let texts = answer.headers().iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let mut headers: Vec<(String, String)> = texts.filter(|(name, _)| name != "date").collect();
        headers.sort();
        Page { status, headers, body: answer.text().await.unwrap() }
    }

    /// Asks it to stop, as an operator does; it must end well.
    pub async fn stop(self) {
        self.process.terminate();
        let status = self.process.ended(String::new).await;
        assert!(status.success(), "`web` ended with {status}");
    }
}
