"""No page or feed shows a fact that only restricted routes of /api/v2 tell, for each route, all pairs, and larger sets.

Every fact of the catalog below is a word of its own.
"""

import random
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import get_args

from generator import encoding
from generator.api.page_routes import PAGES
from generator.api.pages.context import PageContext
from generator.api.pages.visibility import HIDDEN_BY
from generator.api.payloads.resources import HTML, Resource
from generator.api.route_items import InSeries
from generator.catalog import entities
from generator.catalog.site_settings import RestrictedRoute
from tests.api.test_pages import assert_links_lead_to_urls
from tests.support import runs
from tests.support.runs import sample
from tests.support.yaml_catalogs import catalog, resources

ROUTES: tuple[RestrictedRoute, ...] = get_args(RestrictedRoute)
# Facts are words that begin with zq. Those with a capital must never be on a page.
CATALOG = """
site: {title: zqsite, pages: true, hide_licensed: true}
authors: [{id: 101, name: zqauthor, aliases: [zqauthoralias]}, {id: 102, name: zqauthorofhidden}]
artists: [{id: 201, name: zqartist, aliases: [zqartistalias]}, {id: 202, name: zqartistofhidden}]
categories:
  - {id: zqcategoryid, name: zqcategoryname, description: zqcategorydescription}
  - {id: zqemptyid, name: zqemptyname, description: zqemptydescription}
members: [{id: 301, name: zqmember, twitter: zqmembertwitter, discord: zqmemberdiscord, irc: zqmemberirc}]
groups:
  - id: 401
    name: zqgroup
    description: zqgroupdescription
    website: https://zqgroupsite.example/
    discord: https://discord.gg/zqgroupdiscord
    twitter: zqgrouptwitter
    logo: zqgrouplogo.png
    members: [{member: zqmember, role: zqrole}]
  - {id: 402, name: zqgroupofrestricted}
accounts: [{username: zQuser, first_name: zQname, bookmarks: [zqslug]}]
series:
  zqslug:
    title: zqtitle
    aliases: [zqalias]
    description: zqdescription
    authors: [zqauthor]
    artists: [zqartist]
    categories: [zqcategoryid]
    status: hiatus
    kind: comic
    cover: zqcover.jpg
    links: {official: "https://zqofficial.example/", discussion: "https://zqdiscussion.example/"}
    formerly: [zqformerly]
    chapters:
      - {number: 7.25, volume: 3, title: zqchapter, published: 2026-05-01, groups: [zqgroup], pages: [zqpage1.jpg]}
      - {number: 8, title: zqshared1, published: 2026-05-02, pages: [zqpage2.jpg]}
      - {number: 8, title: zqshared2, published: 2026-05-03, groups: [zqgroup], pages: [zqpage3.jpg]}
      - {number: 9, title: zQscheduled, published: 2036-05-03, pages: [zQpage4.jpg]}
  zqlicensed:
    title: zqlicensedtitle
    description: zqlicenseddescription
    licensed: true
    updated: 2026-01-01
    chapters: [{number: 1, title: zQlicensedchapter, published: 2026-05-01, pages: [zQpage5.jpg]}]
  zQhidden: {title: zQhiddentitle, restricted: true}
  zqrestricted:
    title: zqrestrictedtitle
    description: zqrestricteddescription
    restricted: true
    chapters:
      - {number: 1, title: zQkeychapter, published: 2026-05-01, groups: [402], pages: [zQpage6.jpg]}
  zqunlisted:
    title: zqunlistedtitle
    description: zqunlisteddescription
    chapters: [{number: 1, title: zQfirst, published: 2036-05-03, pages: [zQpage7.jpg]}]
"""
FACT = re.compile(r"z[qQ]\w+")
# What the page of a series shows in any case: /api and /api/v1 list the series, and have no restricted routes.
KEPT = {"zqslug", "zqtitle", "zqcover", "zqunlisted", "zqunlistedtitle"}


@cache
def whole() -> entities.Catalog:
    return catalog(CATALOG)


def pages(restricted: Collection[RestrictedRoute]) -> Iterator[Resource]:
    """The pages, feeds and sitemaps of the catalog."""
    site = whole().site.model_copy(update={"restricted": sorted(restricted)})
    some, page = replace(whole(), site=site), PageContext(site)
    for route in PAGES:
        if not isinstance(route.for_each, InSeries):
            yield from route.resources(route.for_each(some), page)
            continue
        for series in some.series:
            assert isinstance(series, entities.Series)
            yield from route.resources(route.for_each.items_of(series), page)


@cache
def shown(restricted: frozenset[RestrictedRoute]) -> dict[str, frozenset[str]]:
    """The facts in each body and its URL."""
    return {
        resource.url: frozenset(FACT.findall(resource.url + encoding.body(resource.body.value).decode()))
        for resource in pages(restricted)
    }


def facts(*restricted: RestrictedRoute) -> frozenset[str]:
    return frozenset().union(*shown(frozenset(restricted)).values())


@cache
def told_by() -> dict[str, frozenset[str]]:
    """The routes of /api/v2 that tell each fact."""
    by_fact: dict[str, set[str]] = {}
    for route, resource in resources(whole()):
        name = re.split("[?#]", route.path)[0].removeprefix("/api/v2")
        # The index is not sent. The redirects of old slugs are public.
        if name in ROUTES and not route.path.endswith("#index"):
            for fact in FACT.findall(resource.url + encoding.body(resource.body.value).decode()):
                by_fact.setdefault(fact, set()).add(name)
    return {fact: frozenset(names) for fact, names in by_fact.items()}


def test_pages_show_the_facts_of_a_public_site() -> None:
    """So that their absence means something below."""
    # Only the API has them.
    api_only = {"zqmembertwitter", "zqmemberdiscord", "zqmemberirc"}

    assert {fact for fact in set(told_by()) - facts() if "Q" not in fact} == api_only
    assert {fact for fact in facts() if "Q" in fact} == set()


def test_facts_of_restricted_routes_are_on_no_page() -> None:
    """Of each route, of pairs and of more: neither what one of them hides, nor what only they tell."""
    chance = random.Random(16)
    larger = ([route for route in ROUTES if chance.random() < 0.5] for _ in range(300 if runs.everything else 30))
    for some in (*combinations(ROUTES, 1), *sample([*combinations(ROUTES, 2)], 5), *larger):
        hidden = {fact for fact, names in told_by().items() if names <= set(some)} - KEPT
        assert facts(*some) & hidden == set(), some
        for url, present in shown(frozenset(some)).items():
            assert all(present <= shown(frozenset([route])).get(url, frozenset()) for route in some), (some, url)


def test_with_all_routes_restricted_pages_show_what_older_versions_tell() -> None:
    """And the old slug, whose redirect is public."""
    assert facts(*ROUTES) == {"zqsite", "zqformerly", *KEPT}


def test_every_route_has_a_row() -> None:
    assert set(HIDDEN_BY) == set(ROUTES)


# A text or a path that only a part of the pages shows, by the route that hides it.
HIDDEN: dict[RestrictedRoute, tuple[str, ...]] = {
    "/series": ('href="/reader/"', 'class="card"', "/library/hiatus/", "/search/"),
    "/series/{slug}": ("zqdescription", "zqalias", "hiatus", '"people":', '"kind":', '"categories":'),
    "/series/{slug}/chapters": ('href="/reader/zqslug/0/8/version', '"latest":'),
    "/chapters": ("/latest/", "/releases.atom", '"latest":'),
    "/chapters/{id}": ('href="/reader/zqslug/0/8/"',),
    "/chapters/{id}/pages": ("zqpage1.jpg",),
    "/pages": ("zqpage1.jpg",),
    "/categories": ('href="/categories/"',),
    "/categories/{name}": ('href="/categories/zqcategoryid/"', "zqcategorydescription"),
    "/authors": ('href="/authors/"',),
    "/authors/{id}": ('href="/authors/101/"',),
    "/artists": ('href="/artists/"',),
    "/artists/{id}": ('href="/artists/201/"',),
    "/groups": ('href="/groups/"',),
    "/groups/{id}": ('href="/groups/401/"', "https://zqgroupsite.example", "zqgroupdescription"),
    "/members": ("zqmember",),
    "/members/{id}": ("zqmember",),
    "/chapters/{id}/read": (),
    "/cubari/{slug}": ("zqdescription", "zqpage1.jpg"),
}


def test_pages_neither_tell_nor_link_what_is_restricted() -> None:
    """With each route restricted alone, and with all of them. An open site shows all of the texts."""

    def texts(made: dict[str, Resource]) -> str:
        told = (one for one in made.values() if one.type == HTML or one.url == "/search/titles.json")
        return "\n".join(encoding.body(one.body.value).decode() for one in told)

    public = texts({one.url: one for one in pages(())})
    assert [text for told in HIDDEN.values() for text in told if text not in public] == []
    for restricted in (*combinations(ROUTES, 1), ROUTES):
        made = {one.url: one for one in pages(restricted)}
        assert [text for route in restricted for text in HIDDEN[route] if text in texts(made)] == [], restricted
        assert_links_lead_to_urls(made)
