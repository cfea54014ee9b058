'use strict';

// @sesamecare-oss/redlock with ioredis, on one server or with REDLOCK_SERVERS on several.

const lockstep = require('./lockstep');

const Redis = require('ioredis');
const { Redlock, ResourceLockedError, ExecutionError } = require('@sesamecare-oss/redlock');

const servers = Number(process.env.REDLOCK_SERVERS ?? 1);
const version = require('@sesamecare-oss/redlock/package.json').version;

// refused reports whether an error means that servers were asked, and none failed: redlock
// says the same of a majority that could not be asked.
async function refused(e) {
  if (!(e instanceof ExecutionError)) return false;
  const attempts = await Promise.all(e.attempts);
  return attempts.every((attempt) => [...attempt.votesAgainst.values()].every((vote) => vote instanceof ResourceLockedError));
}

lockstep.serve({
  name: servers > 1 ? `sesamecare-redlock-${servers}` : 'sesamecare-redlock',
  library: `@sesamecare-oss/redlock ${version} with ioredis ${require('ioredis/package.json').version}`,
  servers,
  timeout: 3000,
  extends: true,
}, (nodes, key, ttl, retry) => {
  const clients = nodes.map((path) => new Redis({ path, retryStrategy: () => 50, maxRetriesPerRequest: 0 }));
  for (const client of clients) client.on('error', () => {}); // the command's own error tells
  // To ask for ever would be -1. But release tries as often when the lock is lost, and wouldn't end.
  const redlock = new Redlock(clients, { retryCount: retry.tries > 0 ? retry.tries - 1 : 1000, retryDelay: retry.delay, retryJitter: retry.jitter });
  redlock.on('error', () => {}); // of a single server
  let lock = null;

  async function attempt(call) {
    try {
      return await call();
    } catch (e) {
      if (await refused(e)) return null;
      throw e;
    }
  }
  return {
    async acquire() {
      lock = await attempt(() => redlock.acquire([key], ttl));
      return lock && { token: lock.value };
    },
    release: async () => (await attempt(() => lock.release())) !== null,
    async extend() {
      const extended = await attempt(() => lock.extend(ttl));
      lock = extended ?? lock;
      return extended ? {} : false;
    },
    close() {
      for (const client of clients) client.disconnect();
    },
  };
});
