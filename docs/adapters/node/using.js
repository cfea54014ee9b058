'use strict';

// `using` with its automatic extension: of redlock 5, or of the package that is the argument.
// REDLOCK_SERVERS is on how many servers.
//
// The routine lasts from acquire to release. At the end it looks at its signal, as in the
// documentation's example: if that is aborted, the release fails and says so.

const lockstep = require('./lockstep');

const Redis = require('ioredis');

const from = process.argv[2] ?? 'redlock5';
const library = require(from);
const Redlock = library.Redlock ?? library.default;
const { version, name } = JSON.parse(require('fs').readFileSync(require('path').join(__dirname, 'node_modules', from, 'package.json')));

const servers = Number(process.env.REDLOCK_SERVERS ?? 1);

lockstep.serve({
  name: `${name.replace(/^@([^/]*).*/, '$1-redlock')}-using${servers > 1 ? `-${servers}` : ''}`,
  library: `${name} ${version} with ioredis ${require('ioredis/package.json').version}`,
  servers,
  timeout: 3000,
  background: true,
  scripts: Object.values(new Redlock([{}]).scripts ?? {}).map((script) => script.value), // the other package has none there
}, (nodes, key, ttl, retry) => {
  const clients = nodes.map((path) => new Redis({ path, retryStrategy: () => 50, maxRetriesPerRequest: 0 }));
  for (const client of clients) client.on('error', () => {}); // the command's own error tells
  // To ask for ever would be -1. But release tries as often when the lock is lost, and wouldn't end.
  const redlock = new Redlock(clients, { retryCount: retry.tries > 0 ? retry.tries - 1 : 1000, retryDelay: retry.delay, retryJitter: retry.jitter });
  redlock.on('error', () => {}); // of a single server
  let end = null; // ends the routine
  let ended = null;
  let aborted = null; // why its signal was, when it ended
  let lock = null; // redlock 5 doesn't tell the routine
  redlock.acquire = async (...args) => {
    lock = await Redlock.prototype.acquire.apply(redlock, args);
    return lock;
  };

  // refused reports whether an error means that servers were asked, and none failed: redlock
  // says the same of a majority that could not be asked.
  async function refused(e) {
    if (!(e instanceof library.ExecutionError)) return false;
    const attempts = await Promise.all(e.attempts);
    return attempts.every((attempt) => [...attempt.votesAgainst.values()].every((vote) => vote instanceof library.ResourceLockedError));
  }
  return {
    async acquire() {
      let entered;
      const routine = new Promise((resolve) => { entered = resolve; });
      ended = redlock.using([key], ttl, (signal) => {
        entered(true);
        return new Promise((resolve) => { end = resolve; }).then(() => {
          aborted = signal.aborted ? signal.error : null;
          if (aborted) throw aborted;
        });
      });
      try {
        await Promise.race([routine, ended]);
      } catch (e) {
        if (await refused(e)) return null;
        throw e;
      }
      return { token: lock.value };
    },
    async release() {
      end();
      try {
        await ended;
      } catch (e) { // using releases after an abort, too, and the error is that of the release
        if (aborted) throw new Error(`the signal is aborted: ${aborted.message}`);
        if (await refused(e)) return false;
        throw e;
      }
      return true;
    },
    close() {
      for (const client of clients) client.disconnect();
    },
  };
});
