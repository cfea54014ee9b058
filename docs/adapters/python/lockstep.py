"""Makes a Python lock a client of Lockstep's simulated world: see docs/protocol.md.

A lock is a class:

    class MyLock:
        def __init__(self, nodes, key, ttl):  # Unix sockets, a name, seconds
        def acquire(self):                    # the token if it is granted, None if it is refused
        def release(self, token):             # False if the lock was not held any more
        def extend(self, token):              # the same; leave it out if leases can't be extended

    lockstep.serve(MyLock, name="my-lock", timeout=3)

Any exception is the failure of a call. The process forks for each execution, so an execution
finds the modules as they are when serve is called, and nothing of another one. In the fork,
the clocks of module time, its sleep, and everything random are the world's, also for code that
has imported these by name, if this module was imported before. So are the time of modules
datetime and threading, and os.getpid, as processes of their own have different ones. What is
random follows from the acquisition, unless the lock has seeded it.

What the world can't follow ends the process, with the line: threads, processes, asyncio,
signals that come after a time, the clocks of the processor, connections to other servers, and
files that are written, or are another each time. Not covered are clocks, waits and random numbers
that C code has of its own, files that were open before, and memory that was shared before.
"""

import _thread
import datetime
import gc
import json
import os
import random
import select
import signal
import socket
import sys
import threading
import time
import traceback
import uuid

CONTROL = 3  # the descriptor that Lockstep passes


def serve(lock, name, timeout, servers=1, library="", no_ttl=False, scripts=()):
    """Serves executions of a lock until Lockstep ends.

    timeout is the library's own, in seconds: how long it waits for a reply.
    """
    hello = {"type": "hello", "lockstep": 1, "lock": name, "library": library, "executions": "fork",
             "servers": servers, "timeout": round(timeout * 1e6), "extends": hasattr(lock, "extend"),
             "no_ttl": no_ttl, "scripts": list(scripts)}
    if os.environ.get("PYTHONHASHSEED") != "0":  # or the order of a set would be another each time
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, sys.orig_argv)
    try:
        origin = _Control(socket.socket(fileno=CONTROL))
    except OSError:
        sys.exit("descriptor 3 is no control connection: start this program by lockstep run --exec or explore --exec")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    gc.freeze()
    sys.dont_write_bytecode = True  # nor anything else: see _open
    origin.send(hello)
    while True:
        message = origin.receive()
        if os.fork() == 0:
            status = 1
            try:
                origin.socket.close()
                control = socket.socket(socket.AF_UNIX)
                control.connect(message["path"])
                _Execution(_Control(control), lock).run(hello)
                status = 0
            finally:
                if status:
                    traceback.print_exc()
                os._exit(status)


class _Control:
    """The control connection: one JSON object a line."""

    def __init__(self, sock):
        self.socket = sock
        self.came = b""

    def send(self, message):
        try:
            _sendall(self.socket, json.dumps(message).encode() + b"\n")
        except OSError:
            os._exit(0)

    def receive(self):
        while True:
            message = self.next()
            if message["type"] != "timeout":  # of a reply that nobody reads
                return message

    def next(self):
        while b"\n" not in self.came:
            piece = _recv(self.socket, 65536)
            if not piece:
                os._exit(0)  # the execution is over, or Lockstep is
            self.came += piece
        line, self.came = self.came.split(b"\n", 1)
        return json.loads(line)

    def timed_out(self):
        """Reports whether a connection has ended because no reply came in time."""
        return bool(select.select([self.socket], [], [], 0)[0]) and self.next()["type"] == "timeout"

    def ask(self, **question):
        self.send(question)
        return self.receive()


class _Execution:
    def __init__(self, control, lock):
        self.control = control
        self.make = lock
        self.lock = None
        self.pid = os.getpid()

    def run(self, hello):
        global _execution
        self.control.send(hello)
        random.seed(0)
        _execution = self
        while True:
            message = self.control.receive()
            try:
                answer = getattr(self, message["type"])(message)
            except Exception as e:
                answer = {"type": "failed", "error": "%s: %s" % (type(e).__name__, e)}
            self.control.send(answer)

    def begin(self, m):
        random.seed("begin " + m.get("seed", ""))
        self.pid = random.randrange(2, 1 << 22)
        self.lock = self.make(m["nodes"], m["key"], m["ttl"] / 1e6)
        return {"type": "begun"}

    def acquire(self, m):
        random.seed(m["seed"])
        token = self.lock.acquire()
        if token is None:
            return {"type": "refused"}
        return {"type": "granted", "token": token}

    def release(self, m):
        held = self.lock.release(m["token"])
        return {"type": "not-held" if held is False else "released"}

    def extend(self, m):
        held = self.lock.extend(m["token"])
        return {"type": "not-held" if held is False else "extended"}


_execution = None  # the one that this process serves

_recv, _recv_into, _sendall = socket.socket.recv, socket.socket.recv_into, socket.socket.sendall
_settimeout = socket.socket.settimeout


def _replace(module, name, world):
    """Puts a function in the place of another, as soon as there is an execution."""
    real = getattr(module, name)
    setattr(module, name, lambda *args: real(*args) if _execution is None else world(*args))


def _clock(which, convert):
    return lambda: convert(_execution.control.ask(type="clock", clock=which)["time"])


for _name, _which in (("time", "wall"), ("monotonic", "monotonic"), ("perf_counter", "monotonic")):
    _replace(time, _name, _clock(_which, lambda us: us / 1e6))
    _replace(time, _name + "_ns", _clock(_which, lambda us: us * 1000))
for _name in ("gmtime", "localtime", "ctime"):
    _replace(time, _name, lambda *args, real=getattr(time, _name): real(*args or (time.time(),)))
_replace(time, "asctime", lambda *args, real=time.asctime: real(*args or (time.localtime(),)))
_replace(time, "strftime", lambda form, *args, real=time.strftime: real(form, *args or (time.localtime(),)))
_replace(time, "clock_gettime", lambda id: time.time() if id == time.CLOCK_REALTIME else time.monotonic())
_replace(time, "clock_gettime_ns", lambda id: time.time_ns() if id == time.CLOCK_REALTIME else time.monotonic_ns())


class _Datetime(datetime.datetime):
    """datetime, whose own clock can't be replaced because it is C's."""

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def utcnow(cls):
        return cls.now(datetime.timezone.utc).replace(tzinfo=None)


_Datetime.__name__ = _Datetime.__qualname__ = "datetime"
datetime.datetime = _Datetime

_replace(time, "sleep", lambda seconds: _execution.control.ask(type="sleep", span=round(seconds * 1e6)) and None)


def _wait(condition, timeout=None):
    """Waits for another thread: there is none, so the time passes, and nobody notifies."""
    if timeout is None:
        _refuse("it waits for another thread, and a lock as a process has one")
    time.sleep(max(0, timeout))
    return False


def _select(r, w, x, timeout=None, real=select.select):
    """Waits for no connection: the time passes. For one it waits as long as the world takes."""
    if r or w or x or not timeout:
        return real(r, w, x, timeout and None)
    time.sleep(timeout)
    return [], [], []


class _Poll:
    """A poll or epoll object, which waits as select does."""

    def __init__(self, *args, real, unit):
        self._real, self._unit, self._known = real(*args), unit, set()

    def __getattr__(self, name):
        return getattr(self._real, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._real.close()

    def register(self, fd, *mask):
        self._known.add(fd)
        return self._real.register(fd, *mask)

    def unregister(self, fd):
        self._known.discard(fd)
        return self._real.unregister(fd)

    def poll(self, timeout=None, *most):
        if _execution is None or timeout == 0:
            return self._real.poll(timeout, *most)
        if self._known or timeout is None or timeout < 0:
            return self._real.poll(None, *most)
        time.sleep(timeout * self._unit)
        return []


class _Lock:
    """threading.Lock: whoever waits for one waits for another thread."""

    def __init__(self):
        self._lock = _thread.allocate_lock()

    def acquire(self, blocking=True, timeout=-1):
        if _execution is None:
            return self._lock.acquire(blocking, timeout)
        if self._lock.acquire(False):
            return True
        return blocking and _wait(None, None if timeout < 0 else timeout)

    __enter__ = acquire

    def __exit__(self, *_):
        self._lock.release()

    def __getattr__(self, name):
        return getattr(self._lock, name)


threading._time = time.monotonic
threading.Lock = _Lock
_replace(threading.Condition, "wait", _wait)
_replace(select, "select", _select)
for _name, _unit in (("poll", 1e-3), ("devpoll", 1e-3), ("epoll", 1)):
    if hasattr(select, _name):
        setattr(select, _name, lambda *args, real=getattr(select, _name), unit=_unit: _Poll(*args, real=real, unit=unit))

_replace(os, "getpid", lambda: _execution.pid)
_replace(os, "urandom", random.randbytes)
_replace(os, "getrandom", lambda size, flags=0: random.randbytes(size))
for _name in ("uuid1", "uuid4"):
    _replace(uuid, _name, lambda *_: uuid.UUID(int=random.getrandbits(128), version=4))


class _Random(random.Random):
    """A source that goes by the acquisition, like module random itself, unless it is seeded."""

    _seeded = False

    def seed(self, a=None, version=2):
        self._seeded = a is not None
        super().seed(a, version)

    def setstate(self, state):
        self._seeded = True
        super().setstate(state)

    def random(self):
        return super().random() if self._seeded or _execution is None else random.random()

    def getrandbits(self, k):
        return super().getrandbits(k) if self._seeded or _execution is None else random.getrandbits(k)


random.Random = random.SystemRandom = _Random


def _refuse(what):
    """Ends the process: a lock that caught an exception would go on as it never does."""
    frame = inner = sys._getframe(1)
    while frame and (frame.f_code.co_filename.startswith((_LIBRARY, "<frozen")) or frame.f_code.co_filename == __file__):
        frame = frame.f_back
    frame = frame or inner
    message = 'Traceback (most recent call last):\n  File "%s", line %d\nRuntimeError: %s\n' % (frame.f_code.co_filename, frame.f_lineno, what)
    os.write(2, message.encode())
    os._exit(1)


_LIBRARY = os.path.dirname(os.__file__) + os.sep

for _module, _names, _what in (
        (time, "process_time process_time_ns thread_time thread_time_ns", "it reads the clock of the processor, which isn't the world's"),
        (os, "times", "it reads the clock of the machine, which isn't the world's"),
        (signal, "alarm setitimer sigtimedwait", "it has a signal come after a time, which doesn't pass here: give its calls a timeout"),
        (_thread, "start_new_thread start_new", "it starts a thread, and a lock as a process has one"),
        (threading.Thread, "start", "it starts a thread, and a lock as a process has one")):
    for _name in _names.split():
        _replace(_module, _name, lambda *_, what=_what: _refuse(what))

_AUDITED = {
    "subprocess.Popen": "it starts a process, which isn't in the world",
}
_AUDITED.update(dict.fromkeys(("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "sqlite3.connect"),
                              "it changes files, and the next execution would find them so"))
_AUDITED.update(dict.fromkeys(("os.system", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"), _AUDITED["subprocess.Popen"]))


def _audit(event, args):
    if _execution is None:
        return
    if event in _AUDITED:
        _refuse(_AUDITED[event])
    if event == "open" and not isinstance(args[0], int):
        _open(os.fsdecode(args[0]), args[2])
    if event == "socket.connect" and args[0].family != socket.AF_UNIX:
        _refuse("it connects to %s, and not to one of the servers that it was given" % (args[1],))
    if event == "socket.__new__" and "asyncio" in sys.modules:
        frame = sys._getframe(1)
        while frame:
            if frame.f_globals.get("__name__", "").startswith("asyncio."):
                _refuse("it runs an event loop of asyncio, whose turns depend on real time: use the library's synchronous client")
            frame = frame.f_back


def _open(path, flags):
    """Lets a file be read that is the same each time."""
    if path == os.devnull:
        return
    if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
        _refuse("it writes to the file %s, where the next execution would find it" % path)
    if path.startswith(("/dev/", "/proc/", "/sys/")):
        _refuse("it reads %s, which isn't the same each time" % path)


sys.addaudithook(_audit)


# A timeout is one of the world's: it comes as a message, and then the connection ends.
def _reading(read):
    def world(sock, *args):
        got = read(sock, *args)
        if not got and _execution.control.timed_out():
            raise socket.timeout("timed out")
        return got
    return world


_replace(socket.socket, "recv", _reading(_recv))
_replace(socket.socket, "recv_into", _reading(_recv_into))
_replace(socket.socket, "settimeout", lambda sock, t: _settimeout(sock, None if t else t))
