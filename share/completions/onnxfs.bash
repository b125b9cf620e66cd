# Bash completion for onnxfs(1): commands, options, models, mounts, and paths of tensors. Needs nothing but bash 4.4.

# The words up to the cursor, in `words`; the last is the one to complete. Readline also ends words at ':' and '=', which
# paths of tensors may hold: what stands without a space between it is one word here.
_onnxfs_words() {
  local line=${COMP_LINE:0:COMP_POINT} part gap i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    part=${COMP_WORDS[i]}
    gap=${line%%[![:space:]]*}
    line=${line#"$gap"}
    ((i == COMP_CWORD)) && part=$line
    line=${line#"$part"}
    if ((i > 0)) && [[ -z $gap && ($part == [:=]* || ${words[-1]} == *[:=]) ]]; then
      words[-1]+=$part
    else
      words+=("$part")
    fi
  done
}

# Sets `plain` to a word without its quotes, and with ~/ as the shell would expand it.
_onnxfs_unquote() {
  plain=$1
  case $plain in
    \"* | \'*)
      plain=${plain:1}
      plain=${plain%[\"\']} ;;
    '~/'*) plain=$HOME/${plain:2} ;;
  esac
  plain=${plain//\\/}
}

# Offers those lines of the standard input that begin with what is typed.
_onnxfs_offer() {
  local line
  while IFS= read -r line; do
    [[ -n $line && $line == "$current"* ]] && COMPREPLY+=("$line")
  done
}

_onnxfs_offer_words() { _onnxfs_offer < <(printf '%s\n' "$@"); }

_onnxfs_offer_folders() {
  compopt -o filenames 2>/dev/null
  _onnxfs_offer < <(compgen -d -- "$current")
}

_onnxfs_offer_models() {
  _onnxfs_offer_folders
  _onnxfs_offer < <(compgen -f -X '!*.onnx' -- "$current"; compgen -f -X '!*.pb' -- "$current")
}

_onnxfs_offer_files() {
  compopt -o filenames 2>/dev/null
  _onnxfs_offer < <(compgen -f -- "$current")
}

_onnxfs_offer_mounts() {
  local device mount_point type rest
  compopt -o filenames 2>/dev/null
  _onnxfs_offer < <(
    while read -r device mount_point type rest; do
      [[ $type == fuse.onnxfs ]] && printf '%b\n' "${mount_point//\\/\\0}"
    done </proc/self/mounts)
  ((${#COMPREPLY[@]})) || _onnxfs_offer_folders
}

# $1: the model, as it was typed
_onnxfs_offer_tensors() {
  local plain
  _onnxfs_unquote "$1"
  compopt -o filenames 2>/dev/null
  local paths
  paths=$("${words[0]}" ls --paths -- "$plain" 2>/dev/null)
  _onnxfs_offer <<<"$paths"
  # A name is as good as a path: what follows the first folder.
  ((${#COMPREPLY[@]})) || _onnxfs_offer < <(sed 's,^[^/]*/,,' <<<"$paths")
}

# $1: the model; those of its tensors that are edited
_onnxfs_offer_edited() {
  local plain path changed at
  _onnxfs_unquote "$1"
  compopt -o filenames 2>/dev/null
  _onnxfs_offer < <(
    "${words[0]}" status -- "$plain" 2>/dev/null |
      while IFS=$'\t' read -r path changed at; do [[ -z $at ]] || printf '%s\n' "$path"; done)
}

# What follows -o of a mount: a list, of which the last entry is completed.
_onnxfs_offer_mount_options() {
  local before= entry
  [[ $current == *,* ]] && before=${current%,*},
  compopt -o nospace 2>/dev/null
  for entry in allow_other allow_root auto_unmount default_permissions ro rw uid= gid= umask= sidecar= \
    fsname= nosuid nodev noexec noatime; do
    _onnxfs_offer_words "$before$entry"
  done
}

# Of a command: its options, in `options`; those of them that take a value, in `valued`.
_onnxfs_options_of() {
  valued=
  case $1 in
    mount)
      options='-o -f --foreground --sidecar -V --version'
      valued='-o --sidecar' ;;
    umount | unmount) options='--commit' ;;
    status)
      options='--json --sidecar'
      valued='--sidecar' ;;
    commit)
      options='-o --output --in-place --sidecar'
      valued='-o --output --sidecar' ;;
    discard)
      options='--sidecar'
      valued='--sidecar' ;;
    check) options='--json' ;;
    ls)
      options='-l --long --sort --totals --json --paths --sidecar'
      valued='--sort --sidecar' ;;
    stats)
      options='--bins --json --sidecar'
      valued='--bins --sidecar' ;;
    diff)
      options='--map --rtol --atol --equal-nan --edits --json --sidecar-a --sidecar-b'
      valued='--map --rtol --atol --sidecar-a --sidecar-b' ;;
    export)
      options='--external --per-tensor --inline --size-threshold --attributes --align --safetensors --sidecar'
      valued='--size-threshold --align --sidecar' ;;
  esac
  options+=' -h --help'
}

# $1: command, $2: the option whose value is asked for
_onnxfs_offer_value() {
  case $1$2 in
    mount-o) _onnxfs_offer_mount_options ;;
    commit-o | *--output) _onnxfs_offer_files ;;
    *--sidecar*) _onnxfs_offer_folders ;;
    *--sort) _onnxfs_offer_words path size ;;
    *--align) _onnxfs_offer_words 4096 65536 ;;
  esac
}

# $1: command; the rest: the words that are no options, without the one to complete
_onnxfs_offer_argument() {
  local command=$1
  shift
  case $command:$# in
    umount:0 | unmount:0) _onnxfs_offer_mounts ;;
    mount:1) _onnxfs_offer_folders ;;
    export:1) _onnxfs_offer_files ;;
    diff:0 | diff:1) _onnxfs_offer_models ;;
    *:0) _onnxfs_offer_models ;;
    check:*) _onnxfs_offer_models ;;
    discard:*) _onnxfs_offer_edited "$1" ;;
    ls:* | stats:* | diff:*) _onnxfs_offer_tensors "$1" ;;
  esac
}

_onnxfs() {
  local words current command=mount options valued plain prefix i
  local -a arguments=()
  COMPREPLY=()
  _onnxfs_words
  _onnxfs_unquote "${words[-1]}"
  current=$plain
  local commands='mount umount status commit discard ls stats diff check export'

  i=1
  if ((${#words[@]} > 2)) && [[ " $commands unmount " == *" ${words[1]} "* ]]; then
    command=${words[1]}
    i=2
  fi
  _onnxfs_options_of "$command"
  for (( ; i < ${#words[@]} - 1; i++)); do
    if [[ " $valued " == *" ${words[i]} "* ]]; then
      if ((i == ${#words[@]} - 2)); then
        _onnxfs_offer_value "$command" "${words[i]}"
        i=-1
        break
      fi
      ((i++))
    elif [[ ${words[i]} != -* ]]; then
      arguments+=("${words[i]}")
    fi
  done

  if ((i >= 0)); then
    if [[ $current == -* ]]; then
      # shellcheck disable=SC2086  # a list of words
      _onnxfs_offer_words $options
    else
      # shellcheck disable=SC2086
      ((${#words[@]} > 2)) || _onnxfs_offer_words $commands
      _onnxfs_offer_argument "$command" "${arguments[@]}"
    fi
  fi

  # Readline replaces only what is behind the last of its own word breaks.
  prefix=${current%"${current##*[:=]}"}
  [[ -n $prefix && $COMP_WORDBREAKS == *[:=]* ]] && COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
  return 0
}

complete -F _onnxfs onnxfs
