"""Runs the features of one library, one after the other, and prints `ok FEATURE` or `FAIL FEATURE: REASON` for each.

A program declares its features with `@feature("name")`, plain or `async`, and ends with `run()`, which exits with 1 if
one failed. The program's argument is the port of the server.
"""
import asyncio
import inspect
import os
import signal
import subprocess
import sys
import time

PORT = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 6379
URL = f"redis://127.0.0.1:{PORT}"
SECONDS = 20

_features = []


def feature(name):
    def register(function):
        _features.append((name, function))
        return function
    return register


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def until(condition, what, seconds=SECONDS):
    """Waits until the condition holds and returns its value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return value


def until_equal(expected, value, seconds=SECONDS):
    """Waits until the function returns the expected value."""
    deadline = time.monotonic() + seconds
    while (actual := value()) != expected:
        if time.monotonic() > deadline:
            raise AssertionError(f"expected {expected!r} within {seconds} s, got {actual!r}")
        time.sleep(0.02)


def raises(kind, function, *args, **kwargs):
    try:
        value = function(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}, got {value!r}")


class Process:
    """A worker in a process group of its own. Its output goes to standard error.

    The program then ends in order when it is told to terminate, so that it stops its worker.
    """

    def __init__(self, *command):
        signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
        self._process = subprocess.Popen(command, stdout=sys.stderr, stdin=subprocess.DEVNULL,
                                         start_new_session=True)

    def kill(self):
        """Kills the worker and the processes that it has started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self._process.args} did not stop within {SECONDS} s")


def _interrupt(_number, _frame):
    raise TimeoutError(f"it took longer than {2 * SECONDS} s")


def _one(function):
    signal.alarm(2 * SECONDS)
    try:
        if inspect.iscoroutinefunction(function):
            asyncio.run(function())
        else:
            function()
    finally:
        signal.alarm(0)


def run():
    signal.signal(signal.SIGALRM, _interrupt)
    failed = 0
    for name, function in _features:
        try:
            _one(function)
            print("ok", name, flush=True)
        except Exception as error:  # each is printed, and counted in the exit status
            failed += 1
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"FAIL {name}: {reason}", flush=True)
    return 1 if failed else 0
