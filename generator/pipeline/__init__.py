"""Catalog -> release, repeating only the steps whose inputs changed.

Each step stores its result in the cache under a key: a digest of everything that the result depends on. If the key of
the next build is the same, the step is skipped. The keys of all steps together with the version of the program, which
is that of the whole cache, make an incremental build equal to a clean one.

step              modules                       key                                         result
0 nothing to do   up_to_date                    options, commit times, status of every      the result of the last
                                                file, nginx.conf, next publication time     build, returned again
1 files           parsed_files                  size, mtime, ctime and inode of a file      digest of its content
                                                digest of a content                         its parsed value
2 check           scan, series_checker,         check key of a series: its files'           its facts; or problems,
                  series_facts                  digests, the entries it references          which are never cached
3 render          stale_series,                 render key of a series: check key, site     its bodies, its segment,
                  series_renderer, publish      settings, file times (if they matter),      its summary, its chapters
                                                number of published chapters, views,        in the list of all
                                                allocated page ids
4 lists           catalog_lists, long_lists     ETag of a body; of a long list the          the bodies of the whole
                                                digests of its pieces                       catalog, and its segment
                                                data of the configuration, `dist`           configuration files
5 release files   segments                      digest of all files                         the id of the release
6 commit          release.transaction           -                                           `current`, cache

Checks between series (repeated ids, bookmarks) run in every build, from the facts. Steps 2 and 3 run in processes.
Segments, render keys and lists in the cache are about one release. If `current` is another one, or the last build was
interrupted, every series is rendered again, and only the results of steps 1 and 2 are used.

`run` is the entry point, `release_builder` does steps 3 to 6.
"""
