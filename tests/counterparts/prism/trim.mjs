// Cuts GitHub's published OpenAPI description down to the operations that the worker calls, in the form that Prism can use.
//
//   node trim.mjs api.github.com.json github.json
//
// Three things are added that the description leaves out: the media type that GitHub recommends to ask for, a 401 on every
// operation, and that every operation wants an Authorization header. Nothing that the description says is softened.

import { readFileSync, writeFileSync } from "node:fs";

const [source, target] = process.argv.slice(2);
if (!source || !target) {
  console.error("usage: node trim.mjs SOURCE TARGET");
  process.exit(64);
}

const OPERATIONS = {
  "/app": ["get"],
  "/app/installations/{installation_id}/access_tokens": ["post"],
  "/repos/{owner}/{repo}": ["get"],
  "/repos/{owner}/{repo}/installation": ["get"],
  "/repos/{owner}/{repo}/git/ref/{ref}": ["get"],
  "/repos/{owner}/{repo}/pulls/{pull_number}": ["get"],
  "/repos/{owner}/{repo}/pulls/{pull_number}/commits": ["get"],
  "/repos/{owner}/{repo}/pulls/{pull_number}/reviews": ["get"],
  "/repos/{owner}/{repo}/collaborators/{username}/permission": ["get"],
  "/repos/{owner}/{repo}/check-runs": ["post"],
  "/repos/{owner}/{repo}/check-runs/{check_run_id}": ["get", "patch"],
  "/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations": ["get"],
  "/repos/{owner}/{repo}/commits/{ref}/check-runs": ["get"],
};

// A reference has slashes (`heads/main`), and a parameter of a path has none for Prism: the fixed part is written out.
const WRITTEN_OUT = {
  "/repos/{owner}/{repo}/git/ref/{ref}": "/repos/{owner}/{repo}/git/ref/heads/{ref}",
};

const JSON_TYPE = "application/json";
const GITHUB_TYPE = "application/vnd.github+json";

const whole = JSON.parse(readFileSync(source, "utf8"));
const out = {
  openapi: whole.openapi,
  info: whole.info,
  servers: [{ url: "http://127.0.0.1" }],
  paths: {},
  components: { securitySchemes: { bearer: { type: "apiKey", in: "header", name: "Authorization" } } },
};

for (const [path, methods] of Object.entries(OPERATIONS)) {
  const item = whole.paths[path];
  if (!item) throw new Error(`the description has no path ${path}`);
  const kept = item.parameters ? { parameters: item.parameters } : {};
  out.paths[WRITTEN_OUT[path] ?? path] = kept;
  for (const method of methods) {
    const operation = item[method];
    if (!operation) throw new Error(`the description has no ${method} ${path}`);
    operation.security = [{ bearer: [] }];
    operation.responses["401"] ??= {
      description: "Requires authentication",
      content: { [JSON_TYPE]: { schema: { $ref: "#/components/schemas/basic-error" } } },
    };
    kept[method] = operation;
  }
}

// Brings along what is referred to, and what that refers to.
const wanted = [out.paths];
while (wanted.length > 0) {
  const value = wanted.pop();
  if (value === null || typeof value !== "object") continue;
  if (typeof value.$ref === "string") {
    const [, , kind, name] = value.$ref.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    out.components[kind] ??= {};
    if (!(name in out.components[kind])) {
      const part = whole.components[kind]?.[name];
      if (part === undefined) throw new Error(`${value.$ref} leads nowhere`);
      out.components[kind][name] = part;
      wanted.push(part);
    }
  }
  wanted.push(...Object.values(value));
}

const responses = [
  ...Object.values(out.components.responses ?? {}),
  ...Object.values(out.paths).flatMap((item) => Object.values(item)).flatMap((op) => Object.values(op.responses ?? {})),
];
for (const { content } of responses) {
  if (content?.[JSON_TYPE]) content[GITHUB_TYPE] ??= content[JSON_TYPE];
}

writeFileSync(target, JSON.stringify(out));
