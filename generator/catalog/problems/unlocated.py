"""Problems by the path of a field, before `locate` finds their lines."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..yaml.positions import YamlPath


FIRST = "<line of the first>"


@dataclass(frozen=True, slots=True)
class UnlocatedProblem:
    """A problem whose line is not known yet. `of_key`: its position is the name of the field, not the value.

    `first` is the file and the path of the value that this one repeats; its line replaces FIRST in the message.
    """

    file: str
    path: "YamlPath"
    message: str
    of_key: bool = False
    first: "tuple[str, YamlPath] | None" = None
