"""A lock that fails unless all of Python's clocks agree."""

import lockstep  # before any library
import calendar
import time
from datetime import datetime, timezone

import redis_py


class Clocks(redis_py.RedisPy):
    def acquire(self):
        wall, mono = time.time(), time.monotonic()
        others = {
            "datetime.now": datetime.now().timestamp(),
            "datetime.now(utc)": datetime.now(timezone.utc).timestamp(),
            "datetime.today": datetime.today().timestamp(),
            "datetime.utcnow": datetime.utcnow().replace(tzinfo=timezone.utc).timestamp(),
            "clock_gettime": time.clock_gettime(time.CLOCK_REALTIME),
            "clock_gettime_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC) / 1e9 - mono + wall,
            "gmtime": calendar.timegm(time.gmtime()),
            "localtime": time.mktime(time.localtime()),
        }
        for name, other in others.items():
            if abs(other - wall) > 1:
                raise RuntimeError("%s says %s, and time.time %s" % (name, other, wall))
        return super().acquire()


lockstep.serve(Clocks, name="clocks", timeout=redis_py.TIMEOUT)
