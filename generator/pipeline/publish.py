"""Resources -> bodies on the disk, and the lines that a release has of them."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from .. import encoding
from ..api.resources import Gate, Resource
from ..catalog.records import Site
from ..nginx import maps
from ..release import manifest
from ..release.bodies import BodyWriter
from ..release.manifest import Published
