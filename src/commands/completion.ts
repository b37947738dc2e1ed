import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { oneOf, required } from './options.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export const completion = command({
  name: 'completion',
  group: 'Set up',
  does: 'print a shell completion script for tollgate',
  details: `bash: eval "$(tollgate completion bash)" in ~/.bashrc
zsh:  tollgate completion zsh > "\${fpath[1]}/_tollgate"
fish: tollgate completion fish > ~/.config/fish/completions/tollgate.fish`,
  options: {},
  arguments: { shell: required('SHELL', shells.join(', '), { completes: shells, read: oneOf(shells) }) },
  async run({ arguments: { shell }, terminal }) {
    terminal.print(scripts[shell])
    return exitCodes.done
  },
})

/**
 * Each script calls `tollgate __complete` on every Tab; see complete.ts. No space is added after `status=`.
 */
const scripts = {
  bash: `_tollgate() {
  local lines word="\${COMP_WORDS[COMP_CWORD]}"
  [[ $word == = ]] && word=''
  mapfile -t lines < <(tollgate __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case "\${lines[0]}" in
  files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
  *)
    COMPREPLY=("\${lines[@]:1}")
    COMPREPLY=("\${COMPREPLY[@]%%$'\\t'*}")
    [[ "\${COMPREPLY[*]}" == *= ]] && compopt -o nospace ;;
  esac
}
complete -F _tollgate tollgate`,
  zsh: `#compdef tollgate
_tollgate() {
  local -a lines items suffix
  lines=("\${(@f)$(tollgate __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  case "$lines[1]" in
  files) compset -P '--*='; _files ;;
  folders) compset -P '--*='; _files -/ ;;
  *)
    items=("\${(@)lines[2,-1]//:/\\\\:}")
    [[ "$items" == *= ]] && suffix=(-S '')
    items=("\${(@)items/$'\\t'/:}")
    _describe tollgate items "\${suffix[@]}" ;;
  esac
}
if [ "$funcstack[1]" = _tollgate ]; then _tollgate; else compdef _tollgate tollgate; fi`,
  fish: `function __tollgate_complete
  set -l word (commandline -ct)
  set -l lines (tollgate __complete -- (commandline -opc)[2..-1] "$word" 2>/dev/null)
  switch "$lines[1]"
    case files
      __fish_complete_path "$word"
    case folders
      __fish_complete_directories "$word"
    case '*'
      printf '%s\\n' $lines[2..-1]
  end
end
complete -c tollgate -f -a '(__tollgate_complete)'`,
}
