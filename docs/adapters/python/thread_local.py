"""Two threads share one of redis-py's Lock objects, on the server at the address given.

Start that by `lockstep serve`, and this by `python3 thread_local.py ADDRESS`.
"""

import queue
import sys
import threading

import redis

host, port = sys.argv[1].rsplit(":", 1)
client = redis.Redis(host=host, port=int(port))


class Worker:
    """A thread that does what it is told, one thing at a time."""

    def __init__(self, name):
        self.name, self.calls, self.results = name, queue.Queue(), queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            call = self.calls.get()
            try:
                self.results.put(call())
            except Exception as e:  # LockError, or what else it raises
                self.results.put(f"{type(e).__name__}: {e}")

    def does(self, what, call):
        self.calls.put(call)
        result = self.results.get()
        print(f"  {self.name} {what}: {'done' if result is None else result}")


def record():
    print(f"  the record is {'there' if client.exists('lock') else 'gone'}")


for thread_local in True, False:
    print(f"thread_local={thread_local}")
    one, two = Worker("thread 1"), Worker("thread 2")
    lock = client.lock("lock", timeout=10, blocking=False, thread_local=thread_local)
    one.does("acquires", lock.acquire)
    two.does("releases", lock.release)
    record()
    client.delete("lock")
    one.does("acquires", lock.acquire)
    client.delete("lock")
    print("  the record is evicted")
    two.does("acquires", lock.acquire)
    one.does("releases", lock.release)
    record()
    client.delete("lock")
