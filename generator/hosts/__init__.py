"""A release for hosts other than nginx: as plain files, and as files of other services."""
