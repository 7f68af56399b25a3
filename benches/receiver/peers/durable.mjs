// @octokit/webhooks with what it lacks: each delivery is in SQLite, synced to disk, before it is answered; its id is unique.
import { createServer } from "node:http";
import { Webhooks } from "@octokit/webhooks";
import Database from "better-sqlite3";

const database = new Database(process.env.DATABASE);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec("CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, event TEXT NOT NULL, body TEXT NOT NULL)");
const insert = database.prepare("INSERT INTO deliveries (id, event, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");

const webhooks = new Webhooks({ secret: process.env.SECRET });

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    const body = Buffer.concat(chunks).toString("utf8");
    const id = request.headers["x-github-delivery"];
    const event = request.headers["x-github-event"];
    if (!(await webhooks.verify(body, request.headers["x-hub-signature-256"]))) {
      response.writeHead(401).end();
      return;
    }
    const payload = JSON.parse(body);
    insert.run(id, event, body);
    await webhooks.receive({ id, name: event, payload });
    response.writeHead(200).end("ok\n");
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
