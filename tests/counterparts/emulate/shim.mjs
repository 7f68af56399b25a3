// Stands between the gate and `emulate`, a stateful GitHub that was written by somebody else, and supplies what that lacks.
//
// What the emulator lacks, and what is done about it here:
//   - it accepts any unknown token as its first user, and any JWT whose signature holds: both are checked first;
//   - its commits are random numbers without a git repository: the story has real commits, and the two kinds of names are
//     exchanged in every request, answer and delivery;
//   - its delivery ids are no GUIDs and its signature covers its own names: deliveries are signed anew;
//   - its pull request deliveries have no `number`, and its pull requests count no changed files;
//   - an update of a check run replaces the annotations instead of appending them, there is no limit of 50, and runs carry no App.
//
// Reads one line of JSON from stdin: { appId, privateKey, webhookSecret, webhookUrl }. Prints one line: { origin }. Ends when
// stdin ends. Then `POST /_story/pull { base, head, paths }` opens a pull request whose commits are these and answers
// when its delivery was taken, and `GET /_story` tells the requests, the deliveries and the check runs on that head.

import { createHmac, createPublicKey, randomBytes, randomUUID, verify } from "node:crypto";
import http from "node:http";
import net from "node:net";
import { createInterface } from "node:readline";

import { createEmulator } from "emulate";

const OWNER = "acme";
const REPO = "widgets";
const AUTHOR = "ada";
const INSTALLATION = 99;

const input = createInterface({ input: process.stdin });
const { appId, privateKey, webhookSecret, webhookUrl } = JSON.parse(await new Promise((line) => input.once("line", line)));
const publicKey = createPublicKey(privateKey);
const userToken = `tok_${randomBytes(16).toString("hex")}`;

// The emulator.

const origin = await new Promise((listening) => {
  const server = http.createServer(serve);
  server.listen(0, "127.0.0.1", () => listening(`http://127.0.0.1:${server.address().port}`));
});
const port = await new Promise((found) => {
  const probe = net.createServer();
  probe.listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => found(port));
  });
});
const upstream = `http://127.0.0.1:${port}`;
// Left alone it would listen on every interface of the machine.
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function onLoopback(port, host, ...rest) {
  return listen.call(this, port, host ?? "127.0.0.1", ...rest);
};
// It runs in this process, so that it ends with it however that ends, and its seed, with the key, is in no file.
await createEmulator({
  service: "github",
  port,
  baseUrl: upstream,
  seed: {
    tokens: { [userToken]: { login: AUTHOR, scopes: ["repo", "user"] } },
    github: {
      users: [{ login: AUTHOR, name: "Ada", email: "ada@example.com" }],
      orgs: [{ login: OWNER, name: "Acme", members: [{ login: AUTHOR, role: "admin" }] }],
      repos: [{ owner: OWNER, name: REPO, auto_init: true }],
      apps: [
        {
          app_id: appId,
          slug: "evidence-gate",
          name: "Evidence Gate",
          private_key: privateKey,
          webhook_url: `${origin}/_story/hook`,
          webhook_secret: webhookSecret,
          permissions: { checks: "write", contents: "read", metadata: "read", pull_requests: "read" },
          events: ["*"],
          installations: [{ installation_id: INSTALLATION, account: OWNER, repository_selection: "all" }],
        },
      ],
    },
  },
});
input.on("close", () => process.exit(0));
console.log(JSON.stringify({ origin }));

// Names of commits, in both directions.

const toGit = new Map();
const toEmulated = new Map();

function pair(emulated, git) {
  toGit.set(emulated, git);
  toEmulated.set(git, emulated);
}

const exchange = (text, names) => text.replace(/\b[0-9a-f]{40}\b/g, (name) => names.get(name) ?? name);

// Authorization as GitHub has it.

const minted = new Map();

function jwtFault(token) {
  const [header, claims, signature] = token.split(".");
  let read;
  try {
    if (JSON.parse(Buffer.from(header, "base64url")).alg !== "RS256") return "only RS256";
    const signed = Buffer.from(`${header}.${claims}`);
    if (!verify("RSA-SHA256", signed, publicKey, Buffer.from(signature, "base64url"))) return "the signature";
    read = JSON.parse(Buffer.from(claims, "base64url"));
  } catch {
    return "not a JWT";
  }
  const now = Date.now() / 1000;
  if (!Number.isInteger(read.iat) || read.iat > now + 60) return "iat";
  if (!Number.isInteger(read.exp) || read.exp <= now || read.exp > now + 600) return "exp";
  if (String(read.iss) !== String(appId)) return "iss";
  return null;
}

function refusal(authorization) {
  const token = (authorization ?? "").replace(/^(Bearer|token) /, "");
  if (token === "") return "Requires authentication";
  if (token.startsWith("eyJ")) {
    const fault = jwtFault(token);
    return fault && `A JSON web token could not be decoded (${fault})`;
  }
  if (token === userToken) return null;
  return (minted.get(token) ?? 0) > Date.now() ? null : "Bad credentials";
}

// Requests.

const log = { requests: [], deliveries: [] };
const annotations = new Map();
const changedFiles = new Map();

async function ask(method, path, authorization, body) {
  const answer = await fetch(upstream + path, {
    method,
    headers: { ...(authorization && { authorization }), "content-type": "application/json" },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

async function serve(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  const reply = (status, text) => {
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(text);
  };
  try {
    if (request.url === "/_story") return reply(200, JSON.stringify({ ...log, runs: await runsOnHead() }));
    if (request.url === "/_story/pull") return reply(201, JSON.stringify(await openPull(JSON.parse(body))));
    if (request.url === "/_story/hook") {
      reply(200, "{}");
      return await deliver(request.headers["x-github-event"], body);
    }
    const { status, text } = await answer(request, body);
    log.requests.push({ method: request.method, path: request.url, status });
    return reply(status, text);
  } catch (cause) {
    console.error(cause);
    return reply(500, JSON.stringify({ message: String(cause) }));
  }
}

async function answer(request, body) {
  const no = refusal(request.headers.authorization);
  if (no) return { status: 401, text: JSON.stringify({ message: no, documentation_url: "https://docs.github.com/rest" }) };
  const run = /^\/repos\/[^/]+\/[^/]+\/check-runs(\/\d+)?$/.test(request.url);
  if (run && request.method !== "GET") {
    const fault = runFault(JSON.parse(body));
    if (fault) {
      const errors = [{ resource: "CheckRun", code: "custom", message: fault }];
      return { status: 422, text: JSON.stringify({ message: "Validation Failed", documentation_url: "", errors }) };
    }
  }
  const sent = exchange(body, toEmulated);
  const path = exchange(request.url, toEmulated);
  const { status, text } = await ask(request.method, path, request.headers.authorization, sent || undefined);
  if (status >= 300) return { status, text };
  const read = text === "" ? null : JSON.parse(text);
  if (/\/access_tokens$/.test(path)) minted.set(read.token, Date.parse(read.expires_at));
  if (run && request.method !== "GET") {
    const more = JSON.parse(body).output?.annotations ?? [];
    annotations.set(read.id, [...(annotations.get(read.id) ?? []), ...more]);
  }
  if (/\/pulls\/\d+$/.test(path)) read.changed_files = changedFiles.get(read.head.sha) ?? 0;
  for (const one of read?.check_runs ?? (run || /\/check-runs\/\d+$/.test(path) ? [read] : [])) complete(one);
  return { status, text: exchange(JSON.stringify(read), toGit) };
}

function runFault(body) {
  const { output, actions, conclusion } = body;
  if ((output?.annotations?.length ?? 0) > 50) return "No more than 50 annotations are allowed";
  for (const key of ["summary", "text"]) {
    if (Buffer.byteLength(output?.[key] ?? "") > 65535) return `${key} exceeds a maximum bytesize of 65535`;
  }
  if ((actions?.length ?? 0) > 3) return "No more than 3 actions are allowed";
  if (["neutral", "skipped", "stale", "cancelled"].includes(conclusion)) return `the gate never says ${conclusion}`;
  return null;
}

function complete(run) {
  run.app = { id: appId, slug: "evidence-gate", name: "Evidence Gate" };
  run.output.annotations_count = annotations.get(run.id)?.length ?? 0;
}

// The story.

async function as(method, path, body) {
  const sent = body && JSON.stringify(body);
  const { status, text } = await ask(method, `/repos/${OWNER}/${REPO}${path}`, `Bearer ${userToken}`, sent);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return JSON.parse(text);
}

let emulatedHead;
let opened;
const delivered = new Promise((taken) => {
  opened = taken;
});

async function openPull({ base, head, paths }) {
  const main = (await as("GET", "/git/ref/heads/main")).object.sha;
  const { tree } = await as("GET", `/git/commits/${main}`);
  const entries = paths.map((path) => ({ path, mode: "100644", type: "blob", content: "changed\n" }));
  const changed = await as("POST", "/git/trees", { base_tree: tree.sha, tree: entries });
  const commit = await as("POST", "/git/commits", { message: "change", tree: changed.sha, parents: [main] });
  await as("POST", "/git/refs", { ref: "refs/heads/change", sha: commit.sha });
  pair(main, base);
  pair(commit.sha, head);
  emulatedHead = commit.sha;
  changedFiles.set(commit.sha, paths.length);
  const pull = await as("POST", "/pulls", { title: "A change", head: "change", base: "main" });
  return { number: pull.number, delivered: await delivered };
}

async function runsOnHead() {
  const { check_runs: runs } = await as("GET", `/commits/${emulatedHead}/check-runs?filter=all`);
  runs.forEach(complete);
  return JSON.parse(exchange(JSON.stringify(runs), toGit));
}

async function deliver(event, body) {
  const payload = JSON.parse(body);
  if (event === "pull_request") {
    payload.number = payload.pull_request.number;
    payload.pull_request.changed_files = changedFiles.get(payload.pull_request.head.sha) ?? 0;
  }
  const text = exchange(JSON.stringify(payload), toGit);
  const entry = { event, action: payload.action ?? null, status: null };
  log.deliveries.push(entry);
  const answer = await fetch(webhookUrl, {
    method: "POST",
    body: text,
    headers: {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/emulated",
      "x-github-event": event,
      "x-github-delivery": randomUUID(),
      "x-github-hook-id": "1",
      "x-github-hook-installation-target-type": "integration",
      "x-github-hook-installation-target-id": String(appId),
      "x-hub-signature-256": `sha256=${createHmac("sha256", webhookSecret).update(text).digest("hex")}`,
    },
  });
  entry.status = answer.status;
  if (event === "pull_request") opened(answer.status);
}
