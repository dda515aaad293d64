"""A plugin of pytest: `generator` is the installed package `flatpanel`, so that tests run on what pip installed."""

import pkgutil
import sys
from importlib import import_module

import flatpanel

for name in ("flatpanel", *(module.name for module in pkgutil.walk_packages(flatpanel.__path__, "flatpanel."))):
    if not name.endswith("__main__"):
        sys.modules[name.replace("flatpanel", "generator", 1)] = import_module(name)
