// Runs one fast-check property as a property of evidence-gate.
//
//     node evidence_gate_fast_check.mjs properties/double.mjs
//
// The file is an ordinary ES module: it imports fast-check and calls `fc.assert` once. Nothing in it knows of this program. Draws follow
// PROPERTY_SEED (32 bits), trials are PROPERTY_TRIALS; a draw that `fc.pre` turns down is made again and is no trial. The library lies
// where this file and the property both find it: in `node_modules` of the oracle root.
//
// For the modes `sample` and `known_bad` the file may export two functions besides: `sample(input)` returns an answer, and
// `knownBad(input)` throws on an input that is bad. samples/ID.json is a list of {"input": ..., "output": ...}, known_bad/ID.json a list of
// inputs. In these modes `fc.assert` does nothing.

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";

// Taken before anything of the product is imported.
const { PROPERTY_MODE, PROPERTY_ID, PROPERTY_SEED, PROPERTY_TRIALS, TRIAL_LOG, ORACLE_ROOT } = process.env;
const log = openSync(TRIAL_LOG, "w");
const { stringify, parse } = JSON;
const leave = process.reallyExit.bind(process);
const complain = process.stderr.write.bind(process.stderr);

function end(line) {
  writeSync(log, stringify(line) + "\n");
  closeSync(log);
  // Without handlers that the product may have left for the end.
  leave(0);
}

function fail(error) {
  const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  complain(text + "\n", () => leave(1));
}

/** A value as JSON has it, or as fast-check writes it. */
function plain(value) {
  const same = (text) => text !== undefined && fc.stringify(parse(text)) === fc.stringify(value);
  try {
    const text = stringify(value);
    return same(text) ? parse(text) : fc.stringify(value);
  } catch {
    return fc.stringify(value);
  }
}

/** What the library's own run says. */
function told(run) {
  const line = { property_id: PROPERTY_ID, seed: run.seed, trials: run.numRuns, hits: run.numRuns };
  if (!run.failed) return { ...line, counterexample: null, exc_type: null, message: null };
  // Every draw was turned down.
  if (run.counterexample === null) return { ...line, trials: Number(PROPERTY_TRIALS), hits: 0, counterexample: null, exc_type: null, message: null };
  const error = run.errorInstance;
  return {
    ...line,
    counterexample: plain(run.counterexample),
    exc_type: error instanceof Error ? error.name : "Error",
    message: error instanceof Error ? error.message : String(error),
  };
}

function held(folder) {
  return parse(readFileSync(join(ORACLE_ROOT, folder, `${PROPERTY_ID}.json`), "utf8"));
}

function asked(module, name) {
  if (typeof module[name] !== "function") throw new Error(`the oracles hold a file for this mode, and the property exports no function \`${name}\``);
  return module[name];
}

async function main() {
  const file = resolve(process.argv[2] ?? "");
  const url = pathToFileURL(file).href;
  const runs = [];
  fc.configureGlobal({
    seed: Number(PROPERTY_SEED),
    numRuns: PROPERTY_MODE === "trials" ? Number(PROPERTY_TRIALS) : 0,
    includeErrorInReport: true,
    reporter: (run) => runs.push(run),
  });
  const module = await import(url);
  if (PROPERTY_MODE === "trials") {
    if (runs.length !== 1) throw new Error(`one call of fc.assert is wanted, and ${runs.length} were made (await it where it is asynchronous)`);
    end(told(runs[0]));
  } else if (PROPERTY_MODE === "sample") {
    const answer = asked(module, "sample");
    const made = [];
    for (const { input } of held("samples")) made.push({ input, output: await answer(input) });
    end({ property_id: PROPERTY_ID, sample: made });
  } else {
    const judge = asked(module, "knownBad");
    const inputs = held("known_bad");
    const accepted = [];
    for (const [at, input] of inputs.entries()) {
      try {
        await judge(input);
        accepted.push(at + 1);
      } catch {
        // Rejected, as it must be.
      }
    }
    end({ property_id: PROPERTY_ID, judged: inputs.length, accepted });
  }
}

await main().catch(fail);
