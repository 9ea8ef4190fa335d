#!/usr/bin/env bash
# tools/make_man.sh FARO PAGE
#
# Writes PAGE, the man page of the command FARO, from what `FARO --help` and `FARO VERB --help` print.
set -euo pipefail
faro=$1 page=$2

# Reads a help text; writes its usage, positionals and options with man's macros. Items are indented by two blanks; what is
# indented further goes on with the item's description. as_man verb VERB makes a verb's section, as_man command the command's own.
as_man() {
  awk -v kind="$1" -v verb="${2:-}" '
    function escaped(text) {
      gsub(/\\/, "\\e", text)
      gsub(/-/, "\\-", text)
      gsub(/…/, "...", text)  # man pages are of ASCII
      while (match(text, /`[^`]*`/))  # `code` in bold
        text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) "\\fR" substr(text, RSTART + RLENGTH)
      if (text ~ /^[.\047]/) text = "\\&" text
      return text
    }
    function finish() {
      if (name != "" && !(kind == "verb" && name == "-h,--help")) printf ".TP\n\\fB%s\\fR\n%s\n", escaped(name), escaped(words)
      name = words = ""
    }
    NR == 1 {
      if (kind == "verb") printf ".SS faro %s\n%s.\n", escaped(verb), escaped($0)
      else printf "%s\n", escaped($0)
      next
    }
    /^Usage: / { if (kind == "verb") printf ".PP\n\\fB%s\\fR\n", escaped(substr($0, 8)); next }
    /^Examples:$/ { finish(); examples = 1; printf ".PP\nExamples:\n"; next }
    examples { printf ".br\n\\fB%s\\fR\n", escaped(substr($0, 3)); next }
    /^[A-Z][A-Za-z]*:$/ {
      finish()
      if (kind == "command" && $0 != "Options:") printf ".SS %s\n", substr($0, 1, length($0) - 1)
      next
    }
    /^  [^ ]/ {
      finish()
      line = substr($0, 3)
      if (match(line, /  +/)) {
        name = substr(line, 1, RSTART - 1)
        words = substr(line, RSTART + RLENGTH)
      } else {
        name = line
      }
      sub(/ REQUIRED$/, "", name)
      next
    }
    /^   / {
      sub(/^ +/, "")
      words = words (words == "" ? "" : " ") $0
    }
    END { finish() }
  '
}

help=$("$faro" --help)
verbs=$("$(dirname "$0")/list_verbs.sh" "$faro")
version=$("$faro" --version | sed -n 1p)

mkdir -p "$(dirname "$page")"
{
  printf '.TH FARO 1 "" "%s" "User Commands"\n' "$version"
  printf '.SH NAME\nfaro \\- plans and runs fast permutations of large arrays, on CPUs and GPUs\n'
  printf '.SH SYNOPSIS\n.B faro\n\\fIVERB\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n'
  printf '.SH DESCRIPTION\n'
  as_man command <<<"$help"
  printf '.SH VERBS\n'
  for verb in $verbs; do
    "$faro" "$verb" --help | as_man verb "$verb"
  done
  cat <<'END'
.SH EXIT STATUS
0 if all went well, 1 for an internal fault, 2 for wrong usage, a permutation or a value that is refused, 3 for what is not
supported, 4 for a device, 5 where a verification failed, 6 for a file, 7 where synth proved that there is no solution, 8 where
it did not finish its search, and 9 where permute \-\-in\-place \-\-no\-backup has permuted the file but could not print its report: do
not run it again. The error is one line on standard error; with
\fB\-\-json\fR it is also a JSON object on standard output.
.SH ENVIRONMENT
.TP
\fBOMP_NUM_THREADS\fR
Threads of the CPU engine; the default is every core.
.TP
\fBFARO_CACHE\fR
Where \fBfaro tune\fR keeps what it measured; the default is faro in \fBXDG_CACHE_HOME\fR or in ~/.cache.
.TP
\fBFARO_MEASURE\fR
If \fBnever\fR, the curves that come with faro are not fitted to this machine before the first plan of 16 MiB or more.
.TP
\fBFARO_NVRTC\fR
The library of NVIDIA's run\-time compiler, where the loader does not find it.
.TP
\fBNO_COLOR\fR
If set, progress on a terminal has no colours.
END
} >"$page.part"
mv "$page.part" "$page"
