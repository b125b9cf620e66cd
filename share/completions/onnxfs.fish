# Fish completion for onnxfs(1): commands, options, models, mounts, and paths of tensors.

# The command and what follows it, up to the cursor; mount may have been left out.
function __onnxfs_words
    set -l words (commandline -opc)
    set -e words[1]
    set -q words[1]; or return
    contains -- $words[1] mount umount unmount status commit discard ls stats diff check export
    or set -p words mount
    printf '%s\n' $words
end

function __onnxfs_is
    set -l words (__onnxfs_words)
    set -q words[1]; and contains -- $words[1] $argv
end

# The words after the command that are neither options nor values of options.
function __onnxfs_arguments
    set -l is_value 0
    for word in (__onnxfs_words)[2..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word -o --output --sidecar --sidecar-a --sidecar-b --sort --bins --map --rtol --atol --size-threshold --align
            set is_value 1
        else if not string match -q -- '-*' $word
            printf '%s\n' $word
        end
    end
end

# The first of them as the program will get it.
function __onnxfs_model
    set -l arguments (__onnxfs_arguments)
    set -q arguments[1]; and string unescape -- $arguments[1] | string replace -r '^~/' $HOME/
end

# Whether so many of them are there.
function __onnxfs_has
    test (count (__onnxfs_arguments)) -eq $argv[1]
end

function __onnxfs_models
    __fish_complete_suffix .onnx
    __fish_complete_suffix .pb
end

function __onnxfs_mounts
    string replace -rf '^\S+ (\S+) fuse\.onnxfs .*' '$1' </proc/self/mounts | string replace -a '\\040' ' '
end

function __onnxfs_tensors
    set -l model (__onnxfs_model)
    set -q model[1]; and onnxfs ls --paths -- $model 2>/dev/null
end

function __onnxfs_edited
    set -l model (__onnxfs_model)
    set -q model[1]; and onnxfs status -- $model 2>/dev/null | string replace -rf '\t.*' ''
end

complete -c onnxfs -f
complete -c onnxfs -n __fish_use_subcommand -a mount -d 'Mount a model; the word may be left out'
complete -c onnxfs -n __fish_use_subcommand -a umount -d 'Unmount a model'
complete -c onnxfs -n __fish_use_subcommand -a status -d 'List the edits'
complete -c onnxfs -n __fish_use_subcommand -a commit -d 'Write the edits into the model'
complete -c onnxfs -n __fish_use_subcommand -a discard -d 'Drop edits'
complete -c onnxfs -n __fish_use_subcommand -a ls -d 'List the tensors'
complete -c onnxfs -n __fish_use_subcommand -a stats -d 'Describe the values of tensors'
complete -c onnxfs -n __fish_use_subcommand -a diff -d 'Compare two models'
complete -c onnxfs -n __fish_use_subcommand -a check -d 'Print what is wrong or odd in a model'
complete -c onnxfs -n __fish_use_subcommand -a export -d 'Write another encoding of a model'
complete -c onnxfs -n __fish_use_subcommand -a '(__onnxfs_models)'
complete -c onnxfs -s h -l help -d 'Print help'

complete -c onnxfs -n '__onnxfs_is mount status commit discard ls stats diff check export; and __onnxfs_has 0' -a '(__onnxfs_models)'
complete -c onnxfs -n '__onnxfs_is umount unmount; and __onnxfs_has 0' -a '(__onnxfs_mounts)'
complete -c onnxfs -n '__onnxfs_is diff; and __onnxfs_has 1' -a '(__onnxfs_models)'
complete -c onnxfs -n '__onnxfs_is export; and __onnxfs_has 1' -F
complete -c onnxfs -n '__onnxfs_is mount; and not __onnxfs_has 0' -a '(__fish_complete_directories)'
complete -c onnxfs -n '__onnxfs_is check; and not __onnxfs_has 0' -a '(__onnxfs_models)'
complete -c onnxfs -n '__onnxfs_is ls stats diff; and not __onnxfs_has 0' -a '(__onnxfs_tensors)'
complete -c onnxfs -n '__onnxfs_is discard; and not __onnxfs_has 0' -a '(__onnxfs_edited)'

complete -c onnxfs -n '__onnxfs_is mount' -s V -l version -d 'Print the version'
complete -c onnxfs -n '__onnxfs_is mount' -s f -l foreground -d 'Stay in the foreground'
complete -c onnxfs -n '__onnxfs_is mount' -s o -x -a 'allow_other allow_root auto_unmount default_permissions ro rw uid= gid= umask= sidecar= fsname= nosuid nodev noexec noatime' -d 'Mount options'
complete -c onnxfs -n '__onnxfs_is mount' -l sidecar -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits'

complete -c onnxfs -n '__onnxfs_is umount unmount' -l commit -d 'Then write the edits into the model'

complete -c onnxfs -n '__onnxfs_is status' -l json -d 'Print JSON'
complete -c onnxfs -n '__onnxfs_is status' -l sidecar -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits'

complete -c onnxfs -n '__onnxfs_is commit' -s o -l output -r -F -d 'Write a new model there'
complete -c onnxfs -n '__onnxfs_is commit' -l in-place -d 'Patch the existing files'
complete -c onnxfs -n '__onnxfs_is commit' -l sidecar -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits'

complete -c onnxfs -n '__onnxfs_is discard' -l sidecar -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits'

complete -c onnxfs -n '__onnxfs_is ls' -s l -l long -d 'Where the bytes stand'
complete -c onnxfs -n '__onnxfs_is ls' -l sort -x -a 'path size' -d 'Order'
complete -c onnxfs -n '__onnxfs_is ls' -l totals -d 'Sums by dtype and by layer'
complete -c onnxfs -n '__onnxfs_is ls' -l json -d 'Print JSON'
complete -c onnxfs -n '__onnxfs_is ls' -l paths -d 'Print only paths'
complete -c onnxfs -n '__onnxfs_is ls' -l sidecar -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits'

complete -c onnxfs -n '__onnxfs_is stats' -l bins -x -d 'Bars of a histogram'
complete -c onnxfs -n '__onnxfs_is stats' -l json -d 'Print JSON'
complete -c onnxfs -n '__onnxfs_is stats' -l sidecar -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits'

complete -c onnxfs -n '__onnxfs_is diff' -l map -x -d 'OLD=NEW: name of a tensor in A, and in B'
complete -c onnxfs -n '__onnxfs_is diff' -l rtol -x -d 'Relative tolerance'
complete -c onnxfs -n '__onnxfs_is diff' -l atol -x -d 'Absolute tolerance'
complete -c onnxfs -n '__onnxfs_is diff' -l equal-nan -d 'NaN equals NaN'
complete -c onnxfs -n '__onnxfs_is diff' -l json -d 'Print JSON'
complete -c onnxfs -n '__onnxfs_is diff' -l edits -d 'What the edits of A change'
complete -c onnxfs -n '__onnxfs_is diff' -l sidecar-a -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits of A'
complete -c onnxfs -n '__onnxfs_is diff' -l sidecar-b -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits of B'

complete -c onnxfs -n '__onnxfs_is check' -l json -d 'Print JSON'

complete -c onnxfs -n '__onnxfs_is export' -l external -d 'Tensors in a data file'
complete -c onnxfs -n '__onnxfs_is export' -l per-tensor -d 'A data file for each tensor'
complete -c onnxfs -n '__onnxfs_is export' -l inline -d 'All tensors in the model'
complete -c onnxfs -n '__onnxfs_is export' -l safetensors -d 'Write safetensors'
complete -c onnxfs -n '__onnxfs_is export' -l size-threshold -x -d 'Smaller tensors stay in the model'
complete -c onnxfs -n '__onnxfs_is export' -l attributes -d 'Tensors of nodes too'
complete -c onnxfs -n '__onnxfs_is export' -l align -x -a '4096 65536' -d 'Alignment in data files'
complete -c onnxfs -n '__onnxfs_is export' -l sidecar -x -a '(__fish_complete_directories)' -d 'Folder that keeps the edits'
