"""The texts of feeds and of the OpenSearch description. Titles and subtitles are those of the original service."""

# Of the texts below, not of the catalog.
LANGUAGE = "en"
RELEASES = "Releases - {site}"
RELEASES_SUBTITLE = "Updates when a new chapter is added"
LIBRARY = "Library - {site}"
LIBRARY_SUBTITLE = "Updates when a new series is added"
# Of a series or a group.
TITLE = "{name} - {site}"
SERIES_SUBTITLE = "Updates when a new chapter of {name} is added"
GROUP_SUBTITLE = "Updates when a new chapter is added by {name}"
LICENSED = "This series is licensed."
NEEDS_KEY = "The chapters of this series need an API key."
SEARCH = "Search the series of {site}"
