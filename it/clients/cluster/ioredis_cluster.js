// Increments counters through ioredis' Cluster until a file exists, and prints what happened.
// Run by cluster-clients.sh: ioredis_cluster.js PORT STOP-FILE
const fs = require("fs");
const Redis = require("ioredis");

const KEYS = 200;

async function main(port, stop) {
  const cluster = new Redis.Cluster([{ host: "127.0.0.1", port }], { redisOptions: { commandTimeout: 2000 } });
  cluster.on("error", () => {}); // commands report their errors, which are counted
  const last = new Array(KEYS).fill(0);
  const kinds = {};
  let done = 0, errors = 0, lost = 0, gap = 0, answered = Date.now();
  for (let i = 0; !fs.existsSync(stop); i++) {
    const key = i % KEYS;
    try {
      const value = await cluster.incr(`ioredis:${key}`);
      done++;
      if (value <= last[key]) lost++;
      last[key] = value;
      gap = Math.max(gap, Date.now() - answered);
      answered = Date.now();
    } catch (error) {
      errors++;
      const kind = error.message.split(" ").slice(0, 3).join(" ");
      kinds[kind] = (kinds[kind] || 0) + 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  console.log(`ioredis: ${done} increments, ${errors} errors ${JSON.stringify(kinds)}, ${lost} values went back,`
    + ` longest gap ${(gap / 1000).toFixed(1)} s`);
  cluster.disconnect();
}

main(Number(process.argv[2]), process.argv[3]);
