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

# Takes operands of `find`, and refuses links among the files that it finds: behind a link, files of others are
# overwritten or removed.
refuse_links() {
    link=$(find "$@" -type l 2>/dev/null | head -n 1)
    [ -z "$link" ] || refuse "$folder/${link#./}: is a link, and a publish follows none; replace it by what it links to"
}

# Enters a folder. It is made if it is missing.
enter() {
    if [ -n "$dry" ] && [ ! -d "$1" ]; then
        echo end
        exit
    fi
    if [ -z "$dry" ]; then
        error=$(mkdir -p -- "$1" 2>&1) || refuse "$error"
        [ -w "$1" ] || refuse "$folder: is not writable"
    fi
    error=$(cd -- "$1" 2>&1) || refuse "$error"
    cd -- "$1" || exit 1
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

# Prints size, time and name of all files below a folder, each in one line: no file of a publish has a line break in its
# name.
list_files() {
    [ -d "$1" ] || return 0
    if stat -c %Y . >/dev/null 2>&1; then
        set -- "$1" -c '%s %Y %n'
    else
        set -- "$1" -f '%z %m %N'
    fi
    find "$1" -type f ! -path '*
*' -exec stat "$2" "$3" {} +
}

# The login shell may print a greeting before this line.
echo flatpanel-publish
case $folder in
    /*) ;;
    *) folder=./$folder ;;
esac
enter "$folder"
[ ! -f .flatpanel ] || refuse "$folder: has the releases of a site itself; use its parent folder as the target"
