'use strict';

// A lock with the habit that the first argument names. It runs in the folder of Node's adapter.

const lockstep = require(`${process.cwd()}/lockstep`); // before any library
const Redis = require('module').createRequire(`${process.cwd()}/`)('ioredis');
const crypto = require('crypto');
const timers = require('timers/promises');

const habit = process.argv[2];

const tokens = {
  int: () => crypto.randomInt(2 ** 40),
  fill: () => crypto.randomFillSync(Buffer.alloc(8)).toString('hex'),
  values: () => crypto.getRandomValues(new Uint32Array(2)).join('-'),
  uuid: () => crypto.webcrypto.randomUUID(),
};

const does = {
  writes: () => require('fs').writeFileSync('/tmp/lockstep-habit', 'x'),
  removes: () => require('fs').promises.rm('/tmp/lockstep-habit'),
  appends: () => require('fs').openSync('/tmp/lockstep-habit', 'a'),
  device: () => require('fs').readFileSync('/dev/urandom', { length: 1 }),
  process: () => require('child_process').execSync('true'),
  thread: () => new (require('worker_threads').Worker)('', { eval: true }),
  processor: () => process.cpuUsage(),
  atomics: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10),
  elsewhere: () => require('net').connect(9, '127.0.0.1'),
  // what follows waits for 9 s
  sleeps: () => timers.setTimeout(9000),
  schedules: () => timers.scheduler.wait(9000),
  aborts: () => new Promise((done) => { AbortSignal.timeout(9000).addEventListener('abort', done); }),
  async repeats() { for await (const _ of timers.setInterval(9000)) break; },
};

lockstep.serve({ name: 'habits', timeout: 3000 }, (nodes, key, ttl) => {
  const client = new Redis({ path: nodes[0], maxRetriesPerRequest: 0, retryStrategy: () => 50 });
  client.on('error', () => {});
  return {
    async acquire() {
      const token = String((tokens[habit] ?? tokens.uuid)());
      if (!await client.set(key, token, 'PX', ttl, 'NX')) return null;
      await does[habit]?.();
      return { token };
    },
    async release() {
      const deletes = client.del(key); // whoever's it is
      if (habit === 'forgets') deletes.catch(() => {});
      else await deletes;
    },
    close: () => client.disconnect(),
  };
});
