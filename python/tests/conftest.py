import os
import signal
import tempfile

import pytest
from hypothesis import settings

# What the user's own `faro tune` has kept has no say in a test, nor in the programs that it runs. The folder is not there.
os.environ["FARO_CACHE"] = os.path.join(tempfile.gettempdir(), f"faro-tests-{os.getpid()}", "none")
os.environ["FARO_MEASURE"] = "never"  # nor has what this machine takes just now

# Machines that test are shared: no deadline for a single example. FARO_EXAMPLES asks for more of them.
settings.register_profile("faro", deadline=None, max_examples=int(os.environ.get("FARO_EXAMPLES", "60")))
settings.load_profile("faro")

# What a shell runs in the background ignores Ctrl-C, and its children would.
signal.signal(signal.SIGINT, signal.default_int_handler)

# JAX reads it when its first array is made: two devices of the host, over which arrays can be sharded.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")


# A package that was made without `extras/`: FARO_WITHOUT_EXTRAS=1 skips a test that is refused what is in there.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except NotImplementedError as error:
        if "got a build without extras/" in str(error) and os.environ.get("FARO_WITHOUT_EXTRAS"):
            pytest.skip(str(error))
        raise
