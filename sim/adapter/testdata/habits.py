"""A lock with the habit that the first argument names. It is redis-py's, but for that."""

import lockstep  # before any library
import asyncio
import os
import pathlib
import random
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
import _thread

import redis_py

source, system = random.Random(), random.SystemRandom()


class Habits(redis_py.RedisPy):
    def __init__(self, nodes, key, ttl):
        super().__init__(nodes, key, ttl)
        self.id = uuid.uuid4().hex
        self.token = tokens.get(sys.argv[1], uuid.uuid4().hex)

    def acquire(self):
        token = str(self.token(self) if callable(self.token) else self.token)
        if self.lock.acquire(token=token):
            does.get(sys.argv[1], lambda: None)()
            return token
        return None


def locked():
    lock = threading.Lock()
    lock.acquire()
    return lock


tokens = {
    "secrets": lambda lock: secrets.token_hex(8),
    "random": lambda lock: source.random(),
    "system": lambda lock: system.getrandbits(64),
    "pid": lambda lock: "%s:%d" % (socket.gethostname(), os.getpid()),
    "made": lambda lock: lock.id,
}
does = {
    "thread": lambda: threading.Thread(target=print).start(),
    "low-thread": lambda: _thread.start_new_thread(print, ()),
    "process": lambda: subprocess.run(["true"]),
    "fork": os.fork,
    "alarm": lambda: signal.setitimer(signal.ITIMER_REAL, 9),
    "processor": time.process_time,
    "machine": os.times,
    "loop": asyncio.new_event_loop,
    "elsewhere": lambda: socket.create_connection(("127.0.0.1", 9), 1),
    "forever": lambda: threading.Event().wait(),
    "writes": lambda: open("/tmp/lockstep-habit", "a"),
    "creates": lambda: os.open(pathlib.Path("/tmp/lockstep-habit"), os.O_CREAT),
    "removes": lambda: os.remove("/tmp/lockstep-habit"),
    "device": lambda: open("/dev/urandom", "rb").read(1),
    "uptime": lambda: open("/proc/uptime").read(),
    "for-ever": lambda: locked().acquire(),
    # what follows waits for 9 s
    "sleeps": lambda: time.sleep(9),
    "polls": lambda: select.poll().poll(9000),
    "polls-edges": lambda: select.epoll().poll(9),
    "selects": lambda: select.select([], [], [], 9),
    "waits": lambda: threading.Event().wait(9),
    "waits-for-lock": lambda: locked().acquire(timeout=9),
}

if __name__ == "__main__":
    lockstep.serve(Habits, name="habits", timeout=redis_py.TIMEOUT)
