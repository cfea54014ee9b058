'use strict';

// redlock 4 with ioredis, on one server or with REDLOCK_SERVERS on several.

const lockstep = require('./lockstep');

const Redis = require('ioredis');
const Redlock = require('redlock');

const servers = Number(process.env.REDLOCK_SERVERS ?? 1);

lockstep.serve({
  name: servers > 1 ? `node-redlock-${servers}` : 'node-redlock',
  library: `redlock ${require('redlock/package.json').version} with ioredis ${require('ioredis/package.json').version}`,
  servers,
  timeout: 3000,
  extends: true,
  scripts: Object.values(new Redlock([{}]).scripts).map((script) => script.value),
}, (nodes, key, ttl, retry) => {
  const clients = nodes.map((path) => new Redis({ path, retryStrategy: () => 50, maxRetriesPerRequest: 0 }));
  for (const client of clients) client.on('error', () => {}); // the command's own error tells
  const redlock = new Redlock(clients, { retryCount: retry.tries - 1, retryDelay: retry.delay, retryJitter: retry.jitter });
  let failure = null; // redlock says of a network error, too, that the lock could not be had
  redlock.on('clientError', (e) => { failure = e; });
  let lock = null;

  // attempt runs a call, and tells a refusal from an error.
  async function attempt(call) {
    failure = null;
    try {
      return await call();
    } catch (e) {
      if (failure || !(e instanceof Redlock.LockError)) throw failure ?? e;
      return null;
    }
  }
  return {
    async acquire() {
      lock = await attempt(() => redlock.lock(key, ttl));
      return lock && { token: lock.value };
    },
    release: async () => (await attempt(async () => { await lock.unlock(); return true; })) ?? false,
    extend: async () => (await attempt(() => lock.extend(ttl))) ? {} : false,
    close() {
      for (const client of clients) client.disconnect();
    },
  };
});
