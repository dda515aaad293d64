"""Problems by the path of a field, before `locate` finds their lines."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..yaml.positions import YamlPath


@dataclass(frozen=True, slots=True)
class UnlocatedProblem:
    """A problem whose line is not known yet. `of_key`: its position is the name of the field, not the value."""

    file: str
    path: "YamlPath"
    message: str
    of_key: bool = False
