"""A lock that fails unless all of Python's clocks agree, and time passes for whoever waits."""

import lockstep  # before any library
import calendar
import queue
import select
import threading
import time
from datetime import date, datetime, timezone

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
            "strftime": float(time.strftime("%s")),
            "ctime": time.mktime(time.strptime(time.ctime())),
            "asctime": time.mktime(time.strptime(time.asctime())),
            "date.today": time.mktime(date.today().timetuple()) + wall - time.mktime(datetime.now().date().timetuple()),
        }
        for name, other in others.items():
            if abs(other - wall) > 1:
                raise RuntimeError("%s says %s, and time.time %s" % (name, other, wall))
        for name, wait in waits.items():
            before = time.monotonic()
            wait()
            if abs(time.monotonic() - before - 0.25) > 0.01:
                raise RuntimeError("%s has waited for %s" % (name, time.monotonic() - before))
        return super().acquire()


def pops():
    try:
        queue.Queue().get(timeout=0.25)
    except queue.Empty:
        return


waits = {
    "sleep": lambda: time.sleep(0.25),
    "select": lambda: select.select([], [], [], 0.25),
    "Event": lambda: threading.Event().wait(0.25),
    "Semaphore": lambda: threading.Semaphore(0).acquire(timeout=0.25),
    "Queue": pops,
}


lockstep.serve(Clocks, name="clocks", timeout=redis_py.TIMEOUT)
