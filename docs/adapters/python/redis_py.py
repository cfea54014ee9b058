"""redis-py's Lock, on one server."""

import lockstep  # before any library

import redis
from redis.exceptions import LockNotOwnedError
from redis.lock import Lock

TIMEOUT = 3


class RedisPy:
    def __init__(self, nodes, key, ttl):
        self.ttl = ttl
        client = redis.Redis(unix_socket_path=nodes[0], socket_timeout=TIMEOUT)
        self.lock = client.lock(key, timeout=ttl, blocking=False)

    def acquire(self):
        return self.lock.local.token.decode() if self.lock.acquire() else None

    def release(self, token):
        try:
            self.lock.release()
        except LockNotOwnedError:
            return False

    def extend(self, token):
        try:
            self.lock.extend(self.ttl, replace_ttl=True)
        except LockNotOwnedError:
            return False


if __name__ == "__main__":
    lockstep.serve(RedisPy, name="redis-py", library="redis-py " + redis.__version__, timeout=TIMEOUT,
                   scripts=[Lock.LUA_RELEASE_SCRIPT, Lock.LUA_EXTEND_SCRIPT])
