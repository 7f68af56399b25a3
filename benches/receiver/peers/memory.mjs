// @octokit/webhooks alone: the least that Node does for a verified webhook; nothing is durable.
import { createServer } from "node:http";
import { Webhooks, createNodeMiddleware } from "@octokit/webhooks";

const webhooks = new Webhooks({ secret: process.env.SECRET });
let taken = 0;
webhooks.on("pull_request", () => {
  taken += 1;
});
const server = createServer(createNodeMiddleware(webhooks, { path: "/webhooks/github" }));
server.listen(0, "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
