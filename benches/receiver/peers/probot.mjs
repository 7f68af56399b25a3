// Probot as it comes: the signature is checked, the body parsed, the handler called; nothing is durable.
import { createServer } from "node:http";
import { Probot, createNodeMiddleware } from "probot";
import { generateKeyPairSync } from "node:crypto";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
  publicKeyEncoding: { type: "pkcs1", format: "pem" },
});
const probot = new Probot({ appId: 1, privateKey, secret: process.env.SECRET, logLevel: "warn" });

let taken = 0;
const app = (app) => {
  app.on("pull_request", () => {
    taken += 1;
  });
};

const middleware = await createNodeMiddleware(app, { probot, webhooksPath: "/webhooks/github" });
const server = createServer(middleware);
server.listen(0, "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
