"""Catalog -> release, repeating only the steps whose inputs changed.

Each step stores its results in the cache under keys: digests of everything that a result depends on. `cache` lists the
results with their keys. A result whose key is the same in the next build is used again. An incremental build equals a
clean one because each key covers its inputs, and because a new version of the program discards the cache.

step              modules                       key                                         result
0 nothing to do   up_to_date                    options, commit times, status of every      the result of the last
                                                file, folder of images, nginx.conf,         build, returned again
                                                `current`, next publication time
1 files           parsed_files                  size, mtime, ctime and inode of a file      digest of its content
                                                digest of a content                         its parsed value
2 check           scan                          check key of a series: its files'           its facts; or problems,
                                                digests, the entries it references          which are never cached
3 render          new_release,                  render key of a series: check key, site     its bodies, its segment,
                  series_renderer, publish      settings, theme, preview, file times (if    its summary, its chapters
                                                they matter), number of published           in the list of all
                                                chapters, views, sizes of pages,
                                                smaller copies, allocated page ids
4 lists           catalog_lists, long_lists     none: all bodies of the whole catalog are   these bodies, if their ETag
                                                rendered, except long lists, whose key      changed, and the segment of
                                                has the digests of their pieces             the whole catalog
                                                data of the configuration, `dist`           configuration files
5 release files   segments                      -                                           the files, and their digest:
                                                                                            the id of the release
6 commit          release.transaction           -                                           `current`, cache

Checks between series (repeated ids, bookmarks) run in every build, from the facts. Steps 2 and 3 run in
worker processes, or in the first one for up to eight series.
Segments, render keys and lists in the cache are about one release. If `current` is another one, or the last build was
interrupted, every series is rendered again, and only the results of steps 1 and 2 are used.

`run` is the entry point and does step 0. It imports `new_release`, whose function `build` is the recipe of all others.
"""
