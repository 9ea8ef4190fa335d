"""What the distribution depends on, for pyproject.toml: nanobind-backend, but on a free-threaded CPython, which has none: there it is inside."""

import sysconfig


def dynamic_metadata(settings, project):
    return {"dependencies": [] if sysconfig.get_config_var("Py_GIL_DISABLED") else settings["otherwise"]}


def dynamic_wheel(settings):
    return {"dependencies": True}
