// Runs the features of one library, one after the other, and prints `ok FEATURE` or `FAIL FEATURE: REASON` for each.
// A program declares them with feature(name, function) and ends with run(), which exits with 1 if one failed.
const assert = require("assert").strict;

const SECONDS = 20;
const features = [];

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** Waits until the condition holds and returns its value. */
async function until(condition, what) {
  const deadline = Date.now() + SECONDS * 1000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`not within ${SECONDS} s: ${what}`);
    await pause(20);
  }
}

/** Waits until the function returns the expected value. */
async function untilEqual(expected, value) {
  const deadline = Date.now() + SECONDS * 1000;
  for (;;) {
    const actual = await value();
    try {
      assert.deepEqual(actual, expected);
      return;
    } catch (different) {
      if (Date.now() > deadline) {
        throw new Error(`expected ${JSON.stringify(expected)} within ${SECONDS} s, got ${JSON.stringify(actual)}`);
      }
    }
    await pause(20);
  }
}

function timeout() {
  let timer;
  const expired = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${2 * SECONDS} s`)), 2 * SECONDS * 1000);
  });
  return { expired, cancel: () => clearTimeout(timer) };
}

const feature = (name, run) => features.push({ name, run });

async function run(close) {
  let failed = 0;
  for (const { name, run: test } of features) {
    const limit = timeout();
    try {
      await Promise.race([test(), limit.expired]);
      console.log("ok", name);
    } catch (error) { // each is printed, and counted in the exit status
      failed++;
      console.log(`FAIL ${name}: ${String(error.message || error).replace(/\s+/g, " ")}`);
    } finally {
      limit.cancel();
    }
  }
  await Promise.race([close(), pause(SECONDS * 1000)]);
  process.exit(failed ? 1 : 0);
}

module.exports = { assert, feature, pause, run, until, untilEqual, port: Number(process.argv[2] || 6379) };
