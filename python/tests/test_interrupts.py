"""Ctrl-C while one long call runs: it ends soon, by KeyboardInterrupt, and what comes after it works."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

# Each is called again and again in one thread; a call alone takes a second or more.
CALLS = {
    "a plan of a map": """
        x = np.zeros(1 << 29, np.uint8)
        plan = faro.plan("random_bmmc(29, 3)", x, threads=1)
        out = np.empty_like(x)
        call = lambda: plan._handle.run(x.ctypes.data, out.ctypes.data, 0)
    """,
    "take": """
        x = np.zeros(1 << 24, np.uint64)
        index = np.random.default_rng(1).integers(0, 1 << 24, 1 << 26)
        out = np.empty(1 << 26, np.uint64)
        call = lambda: faro.take(x, index, out=out, threads=1)
    """,
    "sort": """
        x = np.zeros(1 << 25, np.uint32)
        out = np.empty_like(x)
        call = lambda: faro.sort(x, out=out, threads=1)
    """,
}


@pytest.mark.parametrize("name", CALLS)
def test_one_long_call_is_interrupted(name):
    program = "import faro, numpy as np, os, signal, threading, time\n" + textwrap.dedent(CALLS[name]) + textwrap.dedent("""
        call()  # touches the memory
        # In time of the processor, so that other programs do not decide.
        began = time.process_time()
        call()
        whole = time.process_time() - began
        if whole < 0.3:
            print("too fast", whole)
            raise SystemExit

        def interrupt():
            while time.process_time() - began < whole / 4:
                time.sleep(0.002)
            os.kill(os.getpid(), signal.SIGINT)

        began = time.process_time()
        threading.Thread(target=interrupt).start()
        try:
            call()
        except KeyboardInterrupt:
            took = time.process_time() - began
            print("interrupted" if took < 0.85 * whole or took < whole / 4 + 0.3 else f"late: {took} of {whole}")
        else:
            print("ran to its end")
        assert (faro.flip(np.arange(4)) == [3, 2, 1, 0]).all()
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=int(os.environ.get("FARO_TEST_SECONDS", "120")))
    said = done.stdout.strip()
    if said.startswith("too fast"):
        pytest.skip(said)
    assert said == "interrupted", done.stderr
