# Runs on the server, before release.sh or media.sh. Variables: folder, dry, lock_seconds.
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin
umask 022
# The work continues if the sender is gone.
trap '' PIPE

# Ends with one line for the sender. `echo` of some shells would replace backslashes.
refuse() {
    printf 'refused %s\n' "$(printf '%s' "$*" | tr '\n' ' ')"
    exit 1
}

# Locks the file or folder of descriptor 9 until this shell ends, so a killed sender leaves no lock behind.
lock() {
    command -v flock >/dev/null || refuse "flock is not installed on the server (Debian: util-linux)"
    tries=0
    until flock -n 9; do
        [ "$tries" -lt "$lock_seconds" ] || refuse "another publish or build is at work there"
        tries=$((tries + 1))
        sleep 1
    done
}

# Prints size, time and name of all files below a folder.
list_files() {
    [ -d "$1" ] || return 0
    if stat -c %Y . >/dev/null 2>&1; then
        find "$1" -type f -exec stat -c '%s %Y %n' {} +
    else
        find "$1" -type f -exec stat -f '%z %m %N' {} +
    fi
}

# The login shell may print a greeting before this line.
echo flatpanel-publish
case $folder in
    /*) ;;
    *) folder=./$folder ;;
esac
if [ -n "$dry" ] && [ ! -d "$folder" ]; then
    echo end
    exit
fi
if [ -z "$dry" ]; then
    error=$(mkdir -p -- "$folder" 2>&1) || refuse "$error"
    [ -w "$folder" ] || refuse "$folder: is not writable"
fi
error=$(cd -- "$folder" 2>&1) || refuse "$error"
cd -- "$folder" || exit 1
