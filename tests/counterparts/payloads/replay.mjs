// Posts every recorded payload of GitHub to a receiver, each signed by GitHub's own library, and prints one JSON line per answer.
//
//   WEBHOOK_SECRET=... node replay.mjs http://127.0.0.1:PORT/webhooks/github
//
// The secret comes in the environment only: arguments are visible to every user of the machine.

import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { sign } from "@octokit/webhooks-methods";

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples");
const [url] = process.argv.slice(2);
const secret = process.env.WEBHOOK_SECRET;

if (!url || !secret) {
  console.error("usage: WEBHOOK_SECRET=... node replay.mjs URL");
  process.exit(64);
}

async function deliver(event, payload) {
  const body = JSON.stringify(payload);
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/044aadd",
      "x-github-delivery": randomUUID(),
      "x-github-event": event,
      "x-github-hook-id": "292430182",
      "x-github-hook-installation-target-id": "79929171",
      "x-github-hook-installation-target-type": "integration",
      "x-hub-signature-256": await sign(secret, body),
    },
  });
  const { outcome, reason } = await response.json();
  return { event, action: payload.action, status: response.status, outcome, reason };
}

for (const { name, examples: payloads } of examples) {
  for (const payload of payloads) {
    console.log(JSON.stringify(await deliver(name, payload)));
  }
}
