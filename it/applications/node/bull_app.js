// Bull with its processors in this process. Run by applications.sh with the port of a server.
const Bull = require("bull");
const { assert, feature, pause, port, run, until, untilEqual } = require("./features");

const closing = [];

function queueOf(name, options = {}) {
  const queue = new Bull(name, { redis: { host: "127.0.0.1", port }, ...options });
  queue.on("error", (error) => console.error(error));
  closing.push(queue);
  return queue;
}

feature("jobs, results, progress and events of all clients", async () => {
  const queue = queueOf("b-basic");
  const other = queueOf("b-basic");
  const events = [];
  other.on("global:progress", (id, value) => events.push(`progress ${value}`));
  other.on("global:completed", (id, value) => events.push(`completed ${value}`));
  await other.isReady();
  await pause(100);
  queue.process(async (job) => {
    await job.progress(50);
    await job.log("half of it");
    return job.data.a + job.data.b;
  });
  const job = await queue.add({ a: 1, b: 2 });
  assert.equal(await job.finished(), 3);
  assert.equal(await job.getState(), "completed");
  assert.deepEqual((await queue.getJobLogs(job.id)).logs, ["half of it"]);
  await untilEqual(["progress 50", "completed 3"], () => events);
});

feature("200 jobs, 20 at a time", async () => {
  const queue = queueOf("b-bulk");
  const seen = new Set();
  await queue.addBulk(Array.from({ length: 200 }, (_, i) => ({ data: { i } })));
  queue.process(20, async (job) => { seen.add(job.data.i); });
  await untilEqual(200, () => queue.getCompletedCount());
  assert.equal(seen.size, 200);
});

feature("retries and failures", async () => {
  const queue = queueOf("b-failing");
  queue.process(async (job) => {
    if (job.data.fatal) throw new Error("never again");
    if (job.attemptsMade < 2) throw new Error("as it should");
    return job.attemptsMade;
  });
  const retried = await queue.add({}, { attempts: 3, backoff: 20 });
  assert.equal(await retried.finished(), 2);
  const failed = await queue.add({ fatal: true });
  await assert.rejects(failed.finished(), /never again/);
  const [found] = await queue.getFailed();
  assert.equal(found.failedReason, "never again");
  await found.update({ fatal: false });
  await found.retry();
  await untilEqual("as it should", async () => (await queue.getJob(found.id)).failedReason);
});

feature("delayed jobs, and promoted ones", async () => {
  const queue = queueOf("b-delayed");
  queue.process(async () => Date.now());
  const begin = Date.now();
  const job = await queue.add({}, { delay: 500 });
  const far = await queue.add({}, { delay: 1000000 });
  assert.equal(await queue.getDelayedCount(), 2);
  assert(await job.finished() - begin >= 490, "the job came too early");
  await far.promote();
  await far.finished();
});

feature("priorities and LIFO", async () => {
  const queue = queueOf("b-ordered");
  for (const priority of [3, 1, 2]) await queue.add({ value: priority }, { priority });
  await queue.add({ value: "first" }, { lifo: true });
  const order = [];
  queue.process(async (job) => { order.push(job.data.value); });
  await untilEqual(["first", 1, 2, 3], () => order);
});

feature("rate limit", async () => {
  const queue = queueOf("b-limited", { limiter: { max: 2, duration: 300 } });
  const times = [];
  queue.process(async () => { times.push(Date.now()); });
  await queue.addBulk(Array.from({ length: 5 }, () => ({ data: {} })));
  await untilEqual(5, () => times.length);
  assert(times[4] - times[0] >= 500, `5 jobs in ${times[4] - times[0]} ms`);
});

feature("repeated jobs", async () => {
  const queue = queueOf("b-repeated");
  let ran = 0;
  queue.process("tick", async () => { ran++; });
  await queue.add("tick", {}, { repeat: { every: 100 } });
  await until(() => ran >= 3, "three ticks");
  const [repeated] = await queue.getRepeatableJobs();
  await queue.removeRepeatableByKey(repeated.key);
  assert.equal((await queue.getRepeatableJobs()).length, 0);
});

feature("pause and resume of all clients, empty", async () => {
  const queue = queueOf("b-paused");
  let ran = 0;
  queue.process(async () => { ran++; });
  await queue.isReady();
  await queue.pause();
  await queue.addBulk(Array.from({ length: 5 }, () => ({ data: {} })));
  assert(await queue.isPaused());
  assert.equal(ran, 0);
  await queue.resume();
  await untilEqual(5, () => ran);
  await queue.pause();
  await queue.add({});
  await queue.empty();
  assert.equal(await queue.count(), 0);
});

feature("stalled jobs run again", async () => {
  const settings = { stalledInterval: 100, lockDuration: 300 };
  const lost = queueOf("b-stalled", { settings });
  const job = await lost.add({});
  const taken = await lost.getNextJob();
  assert.equal(taken.id, job.id);
  const queue = queueOf("b-stalled", { settings });
  queue.process(async () => "saved");
  assert.equal(await (await queue.getJob(job.id)).finished(), "saved");
});

feature("locks and moving jobs by hand", async () => {
  const queue = queueOf("b-manual");
  await queue.add({ n: 1 });
  const job = await queue.getNextJob();
  assert.equal(await job.extendLock(10000), 1);
  await job.releaseLock();
  assert(await job.takeLock());
  await job.moveToCompleted("v", true);
  assert.equal((await queue.getJob(job.id)).returnvalue, "v");
});

feature("clean, remove, obliterate", async () => {
  const queue = queueOf("b-cleaned");
  queue.process(async () => "v");
  const jobs = await queue.addBulk(Array.from({ length: 10 }, () => ({ data: {} })));
  for (const job of jobs) await job.finished();
  await pause(10);
  assert.equal((await queue.clean(1, "completed")).length, 10);
  const job = await queue.add({}, { delay: 100000 });
  await job.remove();
  await queue.obliterate({ force: true });
  assert.deepEqual(await queue.client.keys("bull:b-cleaned:*"), []);
});

run(async () => {
  await Promise.all(closing.map((queue) => queue.close(true)));
});
