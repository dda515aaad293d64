"""The pages of authors, artists and groups."""

from typing import NamedTuple

from ...catalog.entities import Catalog, Contributor, Group, Person, PublishingGroup
from ..payloads.resources import Body, newest_of
from . import cards, values
from .context import FeedLink, Link, PageContext, PageHead

GROUP_CHAPTERS = 20


class Contact(NamedTuple):
    """A way to reach a group: its kind, and a link or a text."""

    name: str
    link: Link


def authors(page: PageContext, catalog: Catalog) -> Body:
    return _people(page, catalog, "author", catalog.authors)


def artists(page: PageContext, catalog: Catalog) -> Body:
    return _people(page, catalog, "artist", catalog.artists)


def author(page: PageContext, author: Contributor) -> Body:
    return _person(page, author, "author")


def artist(page: PageContext, artist: Contributor) -> Body:
    return _person(page, artist, "artist")


def groups(page: PageContext, catalog: Catalog) -> Body:
    head = _head_of_list(page, "groups")
    described = page.visible.group
    items = [
        (page.link_to("group", group), values.shortened(group.record.description) if described else "")
        for group in catalog.groups
    ]
    return Body(page.html("entries.html", head, items=items), newest_of(catalog.site_modified, catalog.groups))


def group(page: PageContext, publisher: PublishingGroup) -> Body:
    group, shown = publisher.group, page.visible
    series = publisher.series if shown.library and shown.chapters else ()
    chapters = cards.newest_chapters(publisher.series, GROUP_CHAPTERS, group) if shown.latest and shown.chapters else []
    members = group.members if shown.members else {}
    path = page.paths.owned("groups", group.id)
    about = values.paragraphs(group.record.description)
    feeds = (FeedLink(group.name, path.removesuffix("/")),) if shown.latest and shown.chapters else ()
    body = page.html(
        "group.html",
        PageHead(group.name, path, _about(page, group.name, about), group.logo or "", feeds=feeds),
        group=group,
        logo=page.image(group.logo) if group.logo else "",
        about=about,
        contacts=_contacts(page, group),
        members=[(member.name, ", ".join(roles)) for member, roles in members.items()],
        cards=cards.cards(page, series),
        latest=cards.latest(page, chapters),
        feeds=feeds,
    )
    return Body(body, newest_of(group.modified, members, series, *chapters))


def _people(page: PageContext, catalog: Catalog, kind: str, people: tuple[Person, ...]) -> Body:
    by_name = sorted(people, key=lambda person: (person.name.casefold(), person.id))
    links = [page.link_to(kind, person) for person in by_name]
    body = page.html("people.html", _head_of_list(page, f"{kind}s"), links=links)
    return Body(body, newest_of(catalog.site_modified, people))


def _person(page: PageContext, contributor: Contributor, kind: str) -> Body:
    person, role = contributor.person, getattr(page.text, kind)
    series = contributor.series if page.shows_series_of_subjects else ()
    head = PageHead(person.name, page.paths.owned(f"{kind}s", person.id), _about(page, person.name, ()))
    body = page.html("person.html", head, person=person, role=role, cards=cards.cards(page, series))
    return Body(body, newest_of(person.modified, series))


def _contacts(page: PageContext, group: Group) -> list[Contact]:
    """The ways to reach a group. Only web addresses become links."""
    record = group.record
    all_contacts = (
        (page.text.website, record.website),
        (page.text.email, record.email),
        ("Discord", record.discord),
        ("Twitter", record.twitter),
        ("Reddit", record.reddit),
        ("IRC", record.irc),
    )
    return [Contact(name, Link(values.http_url(text), text)) for name, text in all_contacts if text]


def _head_of_list(page: PageContext, kind: str) -> PageHead:
    name = getattr(page.text, kind)
    return PageHead(name, f"/{kind}/", page.fill(page.text.about_list, name=name))


def _about(page: PageContext, name: str, about: list[str] | tuple[()]) -> str:
    return values.shortened(about[0]) if about else page.fill(page.text.about_list, name=name)
