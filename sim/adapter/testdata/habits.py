"""A lock with the habit that the first argument names. It is redis-py's, but for that."""

import lockstep  # before any library
import asyncio
import os
import random
import secrets
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
}

if __name__ == "__main__":
    lockstep.serve(Habits, name="habits", timeout=redis_py.TIMEOUT)
