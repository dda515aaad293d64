# Runs on the server and keeps the record of announcements. Variable: out.
refuse_links "./$out" "./$out/run" "./$out/run/announced.json" -prune
record=$out/run/announced.json
if [ -z "$dry" ]; then
    error=$(mkdir -p "$out/run" 2>&1) || refuse "$error"
    # Not the lock of publishes: a service may take its time.
    exec 9<"$out/run"
    lock
fi
[ ! -f "$record" ] || printf 'record %s\n' "$(tr -d '\n' <"$record")"
echo end

# A line that is cut off replaces no record.
while IFS= read -r line; do
    printf '%s\n' "$line" >"$record.new" && { sync "$record.new" 2>/dev/null || sync; } &&
        mv -f "$record.new" "$record" || refuse "$folder/$record: cannot be written"
    echo end
done
