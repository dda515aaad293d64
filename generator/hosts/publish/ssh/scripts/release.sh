# Runs on the server and puts a release into the folder `out`. Variables: out, server_folder, reload.
current() {
    readlink "$out/current" 2>/dev/null
}

# The catalog names it: nginx would include files of another folder.
if [ "$reload" = nginx ] && [ "$(cd -- "${server_folder:-.}" 2>&1 && pwd -P)" != "$(pwd -P)" ]; then
    refuse "$folder: site.yaml has server_folder: $server_folder, another folder, so nginx is not reloaded there; change it, or pass --reload or --no-reload"
fi
refuse_links "./$out" "./$out/.flatpanel" "./$out/run" "./$out/run/publish.json" "./$out/www" "./$out/private" \
    "./$out/releases" "./$out/releases/journal.jsonl" "./$out"/releases/???????????????? ./nginx.conf -prune
[ -L "$out/current" ] || [ ! -e "$out/current" ] || refuse "$folder/$out/current: is not a link; remove it"
[ ! -e "$out/PREVIEW" ] || refuse "$folder/$out: is a preview; choose another folder"
if [ ! -e "$out/.flatpanel" ] && [ ! -f "$out/current/manifest.json" ] && [ -e "$out" ]; then
    [ -z "$(ls -A "$out" | grep -vx run)" ] || refuse "$folder/$out: contains files that no build wrote; choose another folder"
fi
if [ -e nginx.conf ] && ! head -n 1 nginx.conf 2>/dev/null | grep -q '^# Written by the build from site.yaml'; then
    refuse "$folder/nginx.conf: was not written by a build; choose another folder"
fi
if [ -z "$dry" ]; then
    error=$(mkdir -p "$out/run" "$out/www" "$out/releases" 2>&1) || refuse "$error"
    error=$({ true >>"$out/.flatpanel"; } 2>&1) || refuse "$folder/$out/.flatpanel: is not writable"
    exec 9>>"$out/.flatpanel"
    lock
fi
refuse_links "./$out/www" "./$out/private"

# What is there: the current release, all releases from the newest to the oldest, and the notes of the last publish.
printf 'current %s\n' "$(current)"
[ ! -s "$out/.flatpanel" ] || echo unfinished
(cd "$out/releases" 2>/dev/null && ls -t) | while read -r name; do
    if [ -f "$out/releases/$name/manifest.json" ]; then
        printf 'release %s\n' "$name"
    elif [ -d "$out/releases/$name" ]; then
        printf 'partial %s\n' "$name"
    fi
done
[ ! -f "$out/releases/journal.jsonl" ] || sed 's/^/journal /' "$out/releases/journal.jsonl"
[ -f nginx.conf ] || echo no-conf
[ ! -f "$out/run/publish.json" ] || printf 'notes %s\n' "$(tr -d '\n' <"$out/run/publish.json")"
echo end

while :; do
    read -r command release || exit 0
    case $command in
        manifest)
            wc -c <"$out/releases/$release/manifest.json" || refuse "$out/releases/$release: cannot be read"
            cat "$out/releases/$release/manifest.json" || refuse "$out/releases/$release: cannot be read"
            ;;
        list)
            list_files "$out/www"
            list_files "$out/private"
            echo end
            ;;
        publish) break ;;
        *) exit 0 ;;
    esac
done

new=$out/run/publish
error=$({ echo unfinished >"$out/.flatpanel"; } 2>&1) || refuse "$folder/$out/.flatpanel: cannot be written"
rm -rf "$out/releases/.new" "$new"
# It lists the names of restricted bodies.
mkdir -m 700 "$new" || refuse "$folder/$new: cannot be created"
tar -xpof - || refuse "tar failed"
[ -f "$new/complete" ] || refuse "the connection ended before all files had arrived"
echo received

# The files must be on the disk before the link that names them.
sync -f "$out" 2>/dev/null || sync
if [ -d "$out/releases/.new" ]; then
    [ ! -L "$new/previous" ] || mv -f "$new/previous" "$out/releases/.new/previous"
    rm -rf "$out/releases/$release"
    mv "$out/releases/.new" "$out/releases/$release" || refuse "$folder/$out/releases: cannot be written"
fi
if [ -f "$new/nginx.conf" ]; then
    mv -f "$new/nginx.conf" nginx.conf || refuse "$folder/nginx.conf: cannot be written"
fi
if [ "$(current)" != "releases/$release" ]; then
    ln -s "releases/$release" "$new/current" || refuse "$folder/$new: cannot be written"
    # Without these options, mv would put the link into the folder that `current` points to. BSD has -h.
    mv -fT "$new/current" "$out/current" 2>/dev/null || mv -fh "$new/current" "$out/current" ||
        refuse "$folder/$out/current: cannot be replaced"
fi
mv -f "$new/journal.jsonl" "$out/releases/journal.jsonl"
mv -f "$new/publish.json" "$out/run/publish.json"
echo current

# A program that the command starts must not inherit the lock.
# A failed reload leaves the link in place: taking it back could fail as well, and nginx goes on with what it has loaded.
case $reload in
    '') ;;
    nginx)
        # After a crash or a restart of the server, the file names no process, or one of another program.
        pid=$(cat "$out/run/nginx.pid" 2>/dev/null)
        name=nginx
        [ ! -e /proc/self/comm ] || name=$(cat "/proc/$pid/comm" 2>/dev/null)
        if [ "$pid" ] && [ "${name#nginx}" != "$name" ]; then
            error=$(nginx -p . -c nginx.conf -s reload 9>&- </dev/null 2>&1) || refuse "reload $error"
            echo reloaded
        else
            echo stopped
        fi
        ;;
    *)
        error=$(trap - PIPE; eval "$reload" 9>&- </dev/null 2>&1) || refuse "reload $error"
        echo reloaded
        ;;
esac

# Only now: nginx no longer serves what is removed here.
xargs -0 rm -f -- <"$new/remove"
xargs -0 rmdir -- <"$new/folders" 2>/dev/null
xargs -0 rm -rf -- <"$new/releases"
rm -rf "$new"
: >"$out/.flatpanel"
echo end
