'use strict';

// Makes a lock for Node a client of Lockstep's simulated world: see docs/protocol.md.
//
//   const lockstep = require('./lockstep'); // before any library
//
//   lockstep.serve({ name: 'my-lock', timeout: 3000 }, (nodes, key, ttl, retry) => ({ // more: see serve
//     async acquire() {},      // { token, remaining } if it is granted, null if it is refused
//     async release(token) {}, // false if the lock was not held any more
//     async extend(token) {},  // { remaining }, or false; only with extends: true
//     close() {},              // disconnects
//   }));
//
// nodes are Unix sockets, spans are in milliseconds, retry is { tries, delay, jitter }. A
// rejected promise is the failure of a call. One process serves one execution after another, so
// a lock must keep nothing in variables outside of this function.
//
// The process runs until nothing more can happen in it, and then reads its control connection,
// on which it waits for what comes next. The clocks, the timers and all random numbers are the
// world's. What the world can't follow ends the process, with the line: threads, processes,
// connections to other servers, files that are written or are another each time. Not covered are
// native modules, and files that were open before.

const crypto = require('crypto');
const fs = require('fs');
const timers = require('timers');

const CONTROL = 3; // the descriptor that Lockstep passes

const real = { setImmediate };

let came = Buffer.alloc(0);

// send sends a message, and receive waits for one: both without the event loop.
function send(message) {
  try {
    fs.writeSync(CONTROL, JSON.stringify(message) + '\n');
  } catch {
    process.exit(0); // Lockstep is gone
  }
}

function receive() {
  const piece = Buffer.alloc(65536);
  for (;;) {
    const end = came.indexOf(10);
    if (end >= 0) {
      const line = came.subarray(0, end).toString();
      came = came.subarray(end + 1);
      return JSON.parse(line);
    }
    let n = 0;
    try {
      n = fs.readSync(CONTROL, piece);
    } catch {
      n = 0;
    }
    if (n === 0) process.exit(0);
    came = Buffer.concat([came, piece.subarray(0, n)]);
  }
}

// An execution that is over may still run on, as its connections end. It asks for nothing then.
let over = true;
let instant = null; // the monotonic clock, if it was read since the last stimulus

let begin = null; // the message, if it came in the place of a time

function read(clock) {
  if (over) return 0;
  send({ type: 'clock', clock });
  const message = receive();
  if (message.type !== 'time') [over, begin] = [true, message];
  return message.time ?? 0;
}

// The world's time.
Date.now = () => Math.floor(read('wall') / 1e3);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length > 0 ? args : [Date.now()]));
  }
};
performance.now = () => read('monotonic') / 1e3;
process.hrtime = (since) => {
  const t = read('monotonic');
  const at = [Math.floor(t / 1e6), (t % 1e6) * 1e3];
  if (!since) return at;
  const d = (at[0] - since[0]) * 1e9 + at[1] - since[1];
  return [Math.floor(d / 1e9), d % 1e9];
};
process.hrtime.bigint = () => BigInt(read('monotonic')) * 1000n;
for (const on of [process, require('os')]) on.uptime = () => read('monotonic') / 1e6;

// The world's timers: a map from each to when it is due, in the order in which they were set.
const set = new Map();

class Timer {
  constructor(call, delay, args, repeat) {
    Object.assign(this, { call, delay: Math.max(1, Number(delay) || 1), args, repeat });
    this.arm();
  }
  arm() {
    if (over) return;
    instant ??= read('monotonic');
    set.set(this, instant + Math.round(this.delay * 1e3));
  }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }
  refresh() { set.delete(this); this.arm(); return this; }
  close() { set.delete(this); return this; }
  [Symbol.toPrimitive]() { return this; }
}

for (const on of [globalThis, timers]) {
  on.setTimeout = (call, delay, ...args) => new Timer(call, delay, args, false);
  on.setInterval = (call, delay, ...args) => new Timer(call, delay, args, true);
  on.clearTimeout = on.clearInterval = (timer) => { set.delete(timer); };
}
const later = (delay, value) => new Promise((done) => { setTimeout(done, delay, value); });
timers.promises.setTimeout = later;
timers.promises.scheduler.wait = (delay) => later(delay);
timers.promises.setInterval = async function* (delay, value) {
  for (;;) yield await later(delay, value);
};
AbortSignal.timeout = (delay) => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), delay);
  return controller.signal;
};
setTimeout[require('util').promisify.custom] = later;

// fire runs the timers that are due.
function fire(now) {
  const due = [...set].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1]);
  for (const [timer] of due) {
    if (!set.delete(timer)) continue; // another has cleared it
    if (timer.repeat) timer.arm();
    timer.call(...timer.args);
  }
}

// Random numbers follow from a seed: splitmix32 over its digest.
let state = 0;

function seed(text) {
  state = crypto.createHash('sha256').update(text).digest().readUInt32LE(0);
}

function random32() {
  state = (state + 0x9e3779b9) | 0;
  let z = state ^ (state >>> 16);
  z = Math.imul(z, 0x21f0aaad);
  z ^= z >>> 15;
  z = Math.imul(z, 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

function fill(bytes) {
  for (let i = 0; i < bytes.length; i++) bytes[i] = random32();
  return bytes;
}

Math.random = () => random32() / 2 ** 32;
crypto.randomBytes = (n, callback) => {
  const bytes = fill(Buffer.alloc(n));
  return callback ? process.nextTick(callback, null, bytes) : bytes;
};
crypto.randomUUID = () => {
  const hex = crypto.randomBytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
};
crypto.randomFillSync = (buffer, offset = 0, size) => {
  const bytes = ArrayBuffer.isView(buffer) ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength) : new Uint8Array(buffer);
  const width = buffer.BYTES_PER_ELEMENT ?? 1; // offset and size count elements
  fill(bytes.subarray(offset * width, size === undefined ? undefined : (offset + size) * width));
  return buffer;
};
crypto.randomFill = (buffer, ...rest) => {
  const callback = rest.pop();
  process.nextTick(callback, null, crypto.randomFillSync(buffer, ...rest));
};
crypto.randomInt = (min, max, callback) => {
  if (max === undefined || typeof max === 'function') [min, max, callback] = [0, min, max];
  const n = min + Math.floor(Math.random() * (max - min));
  return callback ? process.nextTick(callback, null, n) : n;
};
crypto.webcrypto.getRandomValues = (array) => crypto.randomFillSync(array); // and so is that of crypto
crypto.webcrypto.randomUUID = crypto.randomUUID;

// refuse ends the process, with the line: a lock that caught an exception would go on as it never does.
function refuse(what) {
  const lines = new Error(what).stack.split('\n');
  const own = lines.slice(1).filter((line) => !line.includes(__filename) && !line.includes('node:'));
  fs.writeSync(2, [lines[0], ...own].join('\n') + '\n');
  process.exit(1);
}

// guard has a function refuse what the world can't follow: why says what is wrong with a call, if
// anything is.
function guard(on, name, why) {
  const real = on[name];
  if (!real) return;
  on[name] = function (...args) {
    const what = !over && why(...args);
    if (what) refuse(what);
    return new.target ? Reflect.construct(real, args) : real.apply(this, args);
  };
}

const writes = () => 'it changes files, and the next execution would find them so';
const reads = (path) => /^\/(dev|proc|sys)\//.test(String(path)) && `it reads ${path}, which isn't the same each time`;
const opens = (path, flags = 'r') => ((typeof flags === 'number' ? flags & 67 : /[wa+]/.test(flags)) ? writes() : reads(path));
for (const [on, end] of [[fs, ''], [fs, 'Sync'], [fs.promises, '']]) {
  for (const name of ['writeFile', 'appendFile', 'unlink', 'rename', 'mkdir', 'mkdtemp', 'rm', 'rmdir', 'truncate', 'symlink', 'link', 'copyFile', 'cp']) {
    guard(on, name + end, writes);
  }
  guard(on, `readFile${end}`, reads);
  guard(on, `open${end}`, opens);
}
guard(fs, 'createWriteStream', writes);
guard(fs, 'createReadStream', reads);

const children = require('child_process');
for (const name of ['exec', 'execFile', 'spawn', 'fork', 'execSync', 'execFileSync', 'spawnSync']) {
  guard(children, name, () => "it starts a process, which isn't in the world");
}
guard(require('worker_threads'), 'Worker', () => 'it starts a thread, and a lock as a process has one');
guard(Atomics, 'wait', () => 'it waits for another thread, or for a time that passes outside of the world');
for (const name of ['cpuUsage', 'resourceUsage']) guard(process, name, () => "it reads the clock of the processor, which isn't the world's");
guard(require('net').Socket.prototype, 'connect', (...args) => {
  const [to] = Array.isArray(args[0]) ? args[0] : args; // net has put them into an array
  const path = typeof to === 'object' ? to.path : Number.isNaN(Number(to)) && to;
  return !path && `it connects to ${typeof to === 'object' ? `${to.host ?? 'localhost'}:${to.port}` : to}, and not to one of the servers that it was given`;
});
require('module').syncBuiltinESMExports();

// quiet waits until nothing is under way in the event loop: connections are open, and that is
// all. What has come on them before is taken in on the way.
const resting = new Set(['PipeWrap', 'TCPSocketWrap', 'TTYWrap']);
const turn = () => new Promise((done) => { real.setImmediate(done); });

async function quiet() {
  for (let turns = 0; turns < 3; turns++) {
    await turn();
    if (!process.getActiveResourcesInfo().every((what) => resting.has(what))) turns = -1;
  }
}

// The calls of an execution, by the type of the message.
const calls = {
  async begin(execution, m, make) {
    seed(`begin ${m.seed}`);
    const retry = { tries: m.tries ?? 0, delay: (m.delay ?? 0) / 1e3, jitter: (m.jitter ?? 0) / 1e3 };
    execution.lock = make(m.nodes, m.key, m.ttl / 1e3, retry);
    return { type: 'begun' };
  },
  async acquire({ lock }, m) {
    seed(m.seed);
    const lease = await lock.acquire();
    return lease ? { type: 'granted', token: lease.token, remaining: micros(lease.remaining) } : { type: 'refused' };
  },
  async release({ lock }, m) {
    return { type: (await lock.release(m.token)) === false ? 'not-held' : 'released' };
  },
  async extend({ lock }, m) {
    const lease = await lock.extend(m.token);
    return lease === false ? { type: 'not-held' } : { type: 'extended', remaining: micros(lease?.remaining) };
  },
};

const micros = (ms) => (ms === undefined ? undefined : Math.round(ms * 1e3));

// serve serves executions of a lock until Lockstep ends. about has the lock's name, its library
// and that one's timeout, on how many servers it runs, the scripts that they know, whether it
// extends its leases when it is told to, and whether it has a background: then its timers go off
// between calls, too.
exports.serve = async function serve(about, make) {
  send({
    type: 'hello', lockstep: 1, lock: about.name, library: about.library, executions: 'again', asynchronous: true,
    servers: about.servers ?? 1, timeout: about.timeout * 1e3, extends: about.extends, background: about.background, scripts: about.scripts,
  });
  let execution = {};
  let going = false; // it was told to go on
  for (;;) {
    await quiet();
    const time = set.size > 0 ? Math.min(...set.values()) : undefined; // when its first timer is due
    if (over) {
      // it waits for the first begin, or has it
    } else if (execution.answer) {
      send(about.background ? { ...execution.answer, time } : execution.answer);
      execution.calling = execution.answer = null;
    } else if (execution.calling || going) {
      send({ type: 'idle', time });
    }
    const message = begin ?? receive();
    [instant, begin, going] = [message.time ?? null, null, message.type === 'go'];
    if (going) {
      if (message.time) fire(message.time);
      continue;
    }
    if (message.type === 'begin') {
      await end(execution);
      execution = {};
      over = false;
    }
    const current = execution;
    current.calling = calls[message.type](current, message, make)
      .catch((e) => ({ type: 'failed', error: `${e.name}: ${e.message}` }))
      .then((answer) => { current.answer = answer; });
  }
};

// end ends an execution. Whatever it still does comes to nothing.
async function end(execution) {
  over = true;
  set.clear();
  execution.lock?.close?.();
  await quiet();
}
