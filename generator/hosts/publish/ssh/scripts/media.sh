# Runs on the server and puts images into the folder. They arrive in a folder that nginx does not serve, because its name
# begins with a dot; then each is moved to its place, so that no reader gets a part of one. A file of notes lists what was
# sent and may be removed later. Variable: below, a folder below the one of the target, or nothing.
new=.flatpanel-new
notes=.flatpanel-sent

while [ -n "$below" ]; do
    name=${below%%/*}
    refuse_links "./$name" -prune
    folder=$folder/$name
    enter "./$name"
    below=${below#"$name"}
    below=${below#/}
done

if [ -z "$dry" ]; then
    exec 9<.
    lock
fi
# nginx follows none of them, either.
refuse_links .
[ ! -f "$notes" ] || sed 's/^/sent /' "$notes"
list_files .
echo end

read -r command || exit 0
if [ "$command" = remove ]; then
    while IFS= read -r name && [ -n "$name" ]; do
        rm -f -- "./$name" || refuse "$folder/$name: cannot be removed"
        rmdir -p -- "$(dirname -- "./$name")" 2>/dev/null
    done
    echo end
    read -r command || exit 0
fi
if [ "$command" = note ]; then
    # A list that is cut off replaces none.
    complete=
    while [ -z "$complete" ] && IFS= read -r line; do
        if [ "$line" = . ]; then complete=yes; else printf '%s\n' "$line"; fi
    done >"$notes.new" || refuse "$folder/$notes: cannot be written"
    [ -n "$complete" ] || exit 1
    mv -f "$notes.new" "$notes" || refuse "$folder/$notes: cannot be written"
    echo end
    read -r command || exit 0
fi
[ "$command" != restart ] || rm -rf "$new"
mkdir -p "$new" || refuse "$folder: cannot be written"
rm -f "$new/.complete"
tar -xpof - -C "$new" || refuse "tar failed"
[ -f "$new/.complete" ] || refuse "the connection ended before all files had arrived"
rm -f "$new/.complete"
(
    cd "$new" && find . -type f -exec sh -c '
        for file; do
            mkdir -p "../${file%/*}" && [ ! -d "../$file" ] && mv -f "$file" "../$file" || exit 1
        done
    ' sh {} +
) || refuse "$folder: cannot be written"
rm -rf "$new"
echo end
