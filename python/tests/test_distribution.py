"""What the installed distribution asks for."""

import importlib.metadata
import sysconfig

import pytest


def requirements():
    try:
        return importlib.metadata.requires("faro-permute")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package was not installed by its distribution")


def test_the_backend_is_asked_for_where_it_is_not_inside():
    without_extras = [each for each in requirements() if "extra ==" not in each]
    inside = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert [each.split("<")[0].split(">")[0].strip() for each in without_extras] == ([] if inside else ["nanobind-backend"])
