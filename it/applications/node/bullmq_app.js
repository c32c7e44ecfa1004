// BullMQ with its workers in this process. Run by applications.sh with the port of a server.
const { FlowProducer, Job, Queue, QueueEvents, RateLimitError, UnrecoverableError, Worker } = require("bullmq");
const Redis = require("ioredis");
const { assert, feature, pause, port, run, until, untilEqual } = require("./features");

const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
const closing = [];
const client = new Redis(port);

function opened(thing) {
  thing.on("error", (error) => console.error(error));
  closing.push(thing);
  return thing;
}

const queueOf = (name, options = {}) => opened(new Queue(name, { connection, ...options }));

const workerOf = (name, processor, options = {}) =>
  opened(new Worker(name, processor, { connection, drainDelay: 1, ...options }));

const eventsOf = async (name) => {
  const events = opened(new QueueEvents(name, { connection }));
  await events.waitUntilReady();
  return events;
};

feature("jobs, results, progress and events", async () => {
  const queue = queueOf("basic");
  const events = await eventsOf("basic");
  const progress = [];
  events.on("progress", ({ data }) => progress.push(data));
  workerOf("basic", async (job) => {
    await job.updateProgress(50);
    await job.log("half of it");
    return job.data.a + job.data.b;
  });
  const job = await queue.add("add", { a: 1, b: 2 });
  assert.equal(await job.waitUntilFinished(events, 20000), 3);
  assert.equal(await job.getState(), "completed");
  assert.deepEqual((await queue.getJobLogs(job.id)).logs, ["half of it"]);
  await untilEqual([50], () => progress);
  assert.equal(await client.type("bull:basic:events"), "stream");
});

feature("200 jobs in one addBulk, 20 at a time", async () => {
  const queue = queueOf("bulk");
  const seen = new Set();
  const jobs = Array.from({ length: 200 }, (_, i) => ({ name: "job", data: { i } }));
  await queue.addBulk(jobs);
  workerOf("bulk", async (job) => seen.add(job.data.i), { concurrency: 20 });
  await untilEqual(200, () => queue.getCompletedCount());
  assert.equal(seen.size, 200);
});

feature("retries with backoff, failures and their stack traces", async () => {
  const queue = queueOf("failing");
  const events = await eventsOf("failing");
  workerOf("failing", async (job) => {
    if (job.data.fatal) throw new UnrecoverableError("never again");
    if (job.attemptsMade < 2) throw new Error("as it should");
    return job.attemptsMade;
  });
  const retried = await queue.add("x", {}, { attempts: 3, backoff: { type: "exponential", delay: 20 } });
  assert.equal(await retried.waitUntilFinished(events, 20000), 2);
  const failed = await queue.add("x", { fatal: true }, { attempts: 3 });
  await assert.rejects(failed.waitUntilFinished(events, 20000), /never again/);
  const [found] = await queue.getFailed();
  assert.equal(found.failedReason, "never again");
  assert.equal(found.stacktrace.length, 1);
  await found.updateData({ fatal: false });
  await found.retry();
  await untilEqual("completed", () => found.getState());
});

feature("delayed jobs, and promoted ones", async () => {
  const queue = queueOf("delayed");
  const events = await eventsOf("delayed");
  workerOf("delayed", async () => Date.now());
  const begin = Date.now();
  const job = await queue.add("x", {}, { delay: 500 });
  const far = await queue.add("x", {}, { delay: 1000000 });
  assert.equal(await queue.getDelayedCount(), 2);
  assert(await job.waitUntilFinished(events, 20000) - begin >= 490, "the job came too early");
  await far.promote();
  await far.waitUntilFinished(events, 20000);
});

feature("priorities, LIFO, counts", async () => {
  const queue = queueOf("ordered");
  for (const priority of [3, 1, 2]) await queue.add("x", { value: `priority ${priority}` }, { priority });
  await queue.add("x", { value: "first" });
  await queue.add("x", { value: "last, but first" }, { lifo: true });
  assert.deepEqual(await queue.getCountsPerPriority([0, 1, 2, 3]), { 0: 2, 1: 1, 2: 1, 3: 1 });
  const order = [];
  workerOf("ordered", async (job) => order.push(job.data.value));
  await untilEqual(["last, but first", "first", "priority 1", "priority 2", "priority 3"], () => order);
});

feature("rate limit of a worker, and one by the processor", async () => {
  const queue = queueOf("limited");
  const times = [];
  let limited = false;
  const worker = workerOf("limited", async (job) => {
    if (job.data.limit && !limited) {
      limited = true;
      await worker.rateLimit(200);
      throw new RateLimitError();
    }
    times.push(Date.now());
  }, { limiter: { max: 2, duration: 300 } });
  await queue.addBulk(Array.from({ length: 5 }, () => ({ name: "x", data: {} })));
  await untilEqual(5, () => times.length);
  assert(times[4] - times[0] >= 500, `5 jobs in ${times[4] - times[0]} ms`);
  await queue.add("x", { limit: true });
  await untilEqual(6, () => times.length);
});

feature("global concurrency", async () => {
  const queue = queueOf("concurrent");
  await queue.setGlobalConcurrency(2);
  let running = 0;
  let most = 0;
  const process = async () => {
    most = Math.max(most, ++running);
    await pause(20);
    running--;
  };
  workerOf("concurrent", process, { concurrency: 5 });
  workerOf("concurrent", process, { concurrency: 5 });
  await queue.addBulk(Array.from({ length: 10 }, () => ({ name: "x", data: {} })));
  await untilEqual(10, () => queue.getCompletedCount());
  assert.equal(most, 2);
});

feature("flows: parents wait for their children", async () => {
  const events = await eventsOf("parents");
  queueOf("parents");
  workerOf("children", async (job) => job.data.n * 2);
  workerOf("parents", async (job) => Object.values(await job.getChildrenValues()).sort());
  const flow = opened(new FlowProducer({ connection }));
  const tree = await flow.add({
    name: "parent", queueName: "parents", data: {},
    children: [1, 2, 3].map((n) => ({ name: "child", queueName: "children", data: { n } })),
  });
  assert.deepEqual(await tree.job.waitUntilFinished(events, 20000), [2, 4, 6]);
  assert.equal((await tree.job.getDependenciesCount()).processed, 3);
});

feature("job schedulers: every, and cron", async () => {
  const queue = queueOf("scheduled");
  let ran = 0;
  workerOf("scheduled", async () => ran++);
  await queue.upsertJobScheduler("often", { every: 100 }, { name: "tick" });
  await queue.upsertJobScheduler("daily", { pattern: "0 3 * * *" }, { name: "tock" });
  await until(() => ran >= 3, "three ticks");
  assert.deepEqual((await queue.getJobSchedulers()).map((found) => found.key).sort(), ["daily", "often"]);
  assert(await queue.removeJobScheduler("often"));
  assert.equal(await queue.getJobSchedulersCount(), 1);
});

feature("pause, resume, drain", async () => {
  const queue = queueOf("paused");
  let ran = 0;
  workerOf("paused", async () => ran++);
  await queue.pause();
  await queue.addBulk(Array.from({ length: 5 }, () => ({ name: "x", data: {} })));
  assert(await queue.isPaused());
  assert.equal(ran, 0);
  await queue.resume();
  await untilEqual(5, () => ran);
  await queue.pause();
  await queue.add("x", {});
  await queue.drain();
  assert.equal(await queue.count(), 0);
});

feature("deduplication and custom ids", async () => {
  const queue = queueOf("unique");
  const first = await queue.add("x", {}, { deduplication: { id: "one", ttl: 60000 } });
  const second = await queue.add("x", {}, { deduplication: { id: "one", ttl: 60000 } });
  assert.equal(second.id, first.id);
  await queue.add("x", {}, { jobId: "mine" });
  await queue.add("x", {}, { jobId: "mine" });
  assert.equal(await queue.getWaitingCount(), 2);
  assert(await queue.removeDeduplicationKey("one"));
});

feature("stalled jobs run again", async () => {
  const queue = queueOf("stalled");
  // It takes the job and never extends its lock, as a killed worker.
  const lost = new Worker("stalled", null, { connection, lockDuration: 300 });
  lost.on("error", (error) => console.error(error));
  await lost.waitUntilReady();
  const job = await queue.add("x", {});
  const taken = await lost.getNextJob("token");
  assert.equal(taken.id, job.id);
  await lost.close(true);
  workerOf("stalled", async () => "saved", { stalledInterval: 100, lockDuration: 1000 });
  await untilEqual("completed", () => job.getState());
  assert.equal((await Job.fromId(queue, job.id)).returnvalue, "saved");
});

feature("moving jobs by hand, with locks", async () => {
  const queue = queueOf("manual");
  const worker = new Worker("manual", null, { connection });
  closing.push(worker);
  await queue.add("x", { n: 1 });
  await queue.add("x", { n: 2 });
  const one = await worker.getNextJob("token");
  await assert.rejects(one.moveToCompleted("v", "another token", false), /lock/i);
  assert.equal(await one.extendLock("token", 10000), 1);
  await one.moveToCompleted("v", "token", false);
  const two = await worker.getNextJob("token");
  await two.moveToDelayed(Date.now() + 100000, "token");
  assert.equal(await two.getState(), "delayed");
});

feature("clean, remove, obliterate, removeOnComplete, metrics", async () => {
  const queue = queueOf("cleaned");
  workerOf("cleaned", async () => "v", { metrics: { maxDataPoints: 60 } });
  await queue.addBulk(Array.from({ length: 10 }, () => ({ name: "x", data: {}, opts: { removeOnComplete: 3 } })));
  await until(async () => (await queue.getMetrics("completed")).meta.count >= 10, "10 jobs are counted");
  assert.equal(await queue.getCompletedCount(), 3);
  assert.equal((await queue.clean(0, 100, "completed")).length, 3);
  const job = await queue.add("x", {}, { delay: 100000 });
  await job.remove();
  assert.deepEqual(await queue.getJobCounts("delayed", "completed"), { delayed: 0, completed: 0 });
  await queue.obliterate({ force: true });
  assert.deepEqual(await client.keys("bull:cleaned:*"), []);
});

feature("the stream of events is trimmed", async () => {
  const queue = queueOf("trimmed", { streams: { events: { maxLen: 10 } } });
  await queue.addBulk(Array.from({ length: 200 }, () => ({ name: "x", data: {} })));
  await queue.trimEvents(5);
  assert((await client.xlen("bull:trimmed:events")) <= 110);
});

run(async () => {
  await Promise.all(closing.map((thing) => thing.close()));
  client.disconnect();
});
