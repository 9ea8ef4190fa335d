import os

from hypothesis import settings

# Machines that test are shared: no deadline for a single example. FARO_EXAMPLES asks for more of them.
settings.register_profile("faro", deadline=None, max_examples=int(os.environ.get("FARO_EXAMPLES", "60")))
settings.load_profile("faro")
