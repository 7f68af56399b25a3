// What is shown can be read back, and always has two digits behind the point.
import { readFileSync, writeFileSync } from "node:fs";

const { PROPERTY_MODE, PROPERTY_SEED, PROPERTY_TRIALS, TRIAL_LOG, REPO_ROOT, ORACLE_ROOT } = process.env;
const { format } = await import(`${REPO_ROOT}/web/format.mjs`);

/** A small generator of the seed's own numbers, from 0 to 1. */
function draws(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const holds = (cents, text) => /^-?\d+\.\d\d$/.test(text) && Math.round(Number(text) * 100) === cents;
const held = (folder) => JSON.parse(readFileSync(`${ORACLE_ROOT}/${folder}/format.json`, "utf8"));
const log = (line) => writeFileSync(TRIAL_LOG, JSON.stringify({ property_id: "format", ...line }) + "\n");

if (PROPERTY_MODE === "sample") {
  log({ sample: held("samples").map(({ input }) => ({ input, output: format(input) })) });
} else if (PROPERTY_MODE === "known_bad") {
  const inputs = held("known_bad");
  const accepted = inputs.flatMap(({ input, output }, at) => (holds(input, output) ? [at + 1] : []));
  log({ judged: inputs.length, accepted });
} else {
  const [seed, trials, draw] = [Number(PROPERTY_SEED), Number(PROPERTY_TRIALS), draws(Number(PROPERTY_SEED))];
  let failed = null;
  let done = 0;
  while (done < trials && !failed) {
    done += 1;
    const cents = Math.floor((draw() - 0.5) * 20_000);
    if (!holds(cents, format(cents))) {
      failed = { counterexample: cents, exc_type: "Unreadable", message: `${cents} cents are shown as ${format(cents)}` };
    }
  }
  log({ seed, trials: done, hits: done, ...(failed ?? { counterexample: null, exc_type: null, message: null }) });
}
