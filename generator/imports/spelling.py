"""Records -> the fields of a file: in the documented order, with names in place of ids."""

from collections.abc import Mapping
from typing import Any

from ..catalog.records import Group, Record, Series
from ..catalog.yaml_values import yaml_value
from ..reading_sites.lenient import Fields
from .merge_plan import REFERENCES

# How files refer to each id of a list, by kind.
ListNames = Mapping[str, Mapping[Any, str | int]]


def spelled(names: ListNames, model: type[Record], record: Fields) -> Fields:
    """Return a record as a file has it. References to entries that people removed are left out."""
    fields = dict(record)
    for name in REFERENCES.keys() & fields.keys():
        kind = names[REFERENCES[name]]
        fields[name] = [kind[id] for id in fields[name] if id in kind]
    if model is Group and "members" in fields:
        members = names["members"]
        fields["members"] = [
            {**role, "member": members[role["member"]]} for role in fields["members"] if role["member"] in members
        ]
    if model is Series and "categories" in fields:
        fields["categories"] = [id for id in fields["categories"] if id in names["categories"]]
    return ordered(model, yaml_value(fields))


def ordered(model: type[Record], fields: Mapping[str, Any]) -> Fields:
    """Return the fields in the documented order, with `modified` at the end."""
    names = sorted(fields, key=[*model.model_fields, *fields].index)
    return {name: fields[name] for name in sorted(names, key=lambda name: name == "modified")}
