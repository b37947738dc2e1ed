import { type Command, type Completion, type Option, optionName } from './command.ts'
import { commonOptions } from './options.ts'

/** The script for each shell. It has all that it completes: a shell that completes starts no process. */
export const scripts = { bash, zsh, fish } as const

/** A place on the command line: `''`, `ledger`, `ledger verify`. */
interface Place {
  path: string
  /** The next words of commands, with what they do. */
  words: readonly { name: string; does: string }[]
  options: readonly { name: string; option: Option<unknown> }[]
  arguments: readonly { completes: Completion; repeats: boolean }[]
}

const help = { read: () => undefined, placeholder: undefined, does: 'print help', repeats: false }
const everywhere = [
  ...Object.entries(commonOptions).map(([name, option]) => ({ name: optionName(name), option })),
  { name: '--help', option: { ...help, completes: 'nothing' as const } },
]

function placesOf(commands: readonly Command[]): Place[] {
  const paths = new Set(commands.flatMap(({ name }) => ancestorsOf(name)))
  const parents = [...paths].map((path): Place => {
    const prefix = path === '' ? '' : `${path} `
    const below = commands.filter(({ name }) => name.startsWith(prefix))
    const names = [...new Set(below.map(({ name }) => name.slice(prefix.length).split(' ')[0] ?? ''))]
    const words = names.map((name) => ({ name, does: doesOf(below, `${prefix}${name}`) }))
    return { path, words, options: everywhere, arguments: [] }
  })
  const own = commands.map((command): Place => {
    const options = Object.entries(command.options).map(([name, option]) => ({
      name: optionName(name),
      option,
    }))
    return {
      path: command.name,
      words: [],
      options: [...options, ...everywhere],
      arguments: Object.values(command.arguments),
    }
  })
  return [...parents, ...own]
}

/** `''` and `ledger` of `ledger verify`. */
function ancestorsOf(name: string): string[] {
  const words = name.split(' ')
  return words.map((_, at) => words.slice(0, at).join(' '))
}

function doesOf(commands: readonly Command[], path: string): string {
  const own = commands.find(({ name }) => name === path)
  const below = commands.filter(({ name }) => name.startsWith(`${path} `))
  return own?.does ?? below.map(({ name }) => name.slice(path.length + 1)).join(', ')
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function bash(commands: readonly Command[]): string {
  const places = placesOf(commands)
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ option }) => option.placeholder !== undefined)
      .map(
        ({ name, option }) => `    ${quoted(`${path} ${name}`)}) ${bashReply(option.completes)}; return ;;`,
      ),
  )
  const taking = new Set(
    places.flatMap(({ options }) =>
      options.filter(({ option }) => option.placeholder !== undefined).map(({ name }) => name),
    ),
  )
  const paths = places.map(({ path }) => path).filter((path) => path !== '')
  return `# bash completion of tollgate. Made by: tollgate completion bash
_tollgate() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" path='' i=1 position=0
  # bash takes --option=value as three words.
  if [[ $word == = ]]; then word=''
  elif [[ $before == = ]]; then before="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
    ${[...taking].join('|')})
      [[ \${COMP_WORDS[i + 1]} == = ]] && ((i++))
      ((i++)) ;;
    -*) ;;
    *)
      case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${paths.map(quoted).join('|')}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
      *) ((position++)) ;;
      esac ;;
    esac
  done
  COMPREPLY=()
  case "$path $before" in
${values.join('\n')}
  esac
  if [[ $word == -* ]]; then
    case "$path" in
${places.map(({ path, options }) => `    ${quoted(path)}) ${bashReply(options.map(({ name }) => name))} ;;`).join('\n')}
    esac
    return
  fi
  case "$path:$position" in
${places.map(bashPlace).join('\n')}
  esac
}
complete -F _tollgate tollgate`
}

function bashPlace({ path, words, arguments: named }: Place): string {
  if (words.length > 0) return `    ${quoted(path)}:*) ${bashReply(words.map(({ name }) => name))} ;;`
  return named
    .map(
      ({ completes, repeats }, at) => `    ${quoted(path)}:${repeats ? '*' : at}) ${bashReply(completes)} ;;`,
    )
    .join('\n')
}

/** `status=`: the value follows without a blank. */
const goOn = (words: readonly string[]) => words.some((word) => word.endsWith('='))

function bashReply(completes: Completion): string {
  if (completes === 'nothing') return ':'
  if (completes === 'files') return 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word")'
  if (completes === 'folders') return 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word")'
  const words = `mapfile -t COMPREPLY < <(compgen -W ${quoted(completes.join(' '))} -- "$word")`
  return goOn(completes) ? `compopt -o nospace; ${words}` : words
}

function zsh(commands: readonly Command[]): string {
  const places = placesOf(commands)
  return `#compdef tollgate
# zsh completion of tollgate. Made by: tollgate completion zsh
_tollgate() {
  local context state line path_
  local -a words_
  path_="\${1-}"
  case "$path_" in
${places.map(zshPlace).join('\n')}
  esac
}
if [ "$funcstack[1]" = _tollgate ]; then _tollgate; else compdef _tollgate tollgate; fi`
}

function zshPlace({ path, words, options, arguments: named }: Place): string {
  const specs = options.map(({ name, option }) => {
    const star = option.repeats ? '*' : ''
    const value =
      option.placeholder === undefined ? '' : `:${option.placeholder}:${zshAction(option.completes)}`
    return quoted(`${star}${name}[${zshText(option.does)}]${value}`)
  })
  if (words.length === 0) {
    const positions = named.map(({ completes, repeats }, at) =>
      quoted(`${repeats ? '*' : at + 1}: :${zshAction(completes)}`),
    )
    return `  ${quoted(path)}) _arguments ${[...specs, ...positions].join(' ')} ;;`
  }
  const list = words.map(({ name, does }) => quoted(`${name}:${zshText(does)}`)).join(' ')
  return `  ${quoted(path)})
    _arguments -C ${specs.join(' ')} '1: :->word' '*:: :->rest'
    case "$state" in
    word) words_=(${list}); _describe command words_ ;;
    rest) _tollgate "\${path_:+$path_ }$line[1]" ;;
    esac ;;`
}

function zshAction(completes: Completion): string {
  if (completes === 'nothing') return ' '
  if (completes === 'files') return '_files'
  if (completes === 'folders') return '_files -/'
  return goOn(completes) ? ` compadd -S "" - ${completes.join(' ')}` : `(${completes.join(' ')})`
}

const zshText = (text: string) => text.replace(/[[\]:\\]/g, (letter) => `\\${letter}`)

function fish(commands: readonly Command[]): string {
  const places = placesOf(commands)
  const lines = places.flatMap(({ path, words, options, arguments: named }) => {
    const here = `complete -c tollgate -n ${quoted(`__tollgate_at ${quoted(path)}`)}`
    const inside = `complete -c tollgate -n ${quoted(`__tollgate_in ${quoted(path)}`)}`
    const [first] = named
    return [
      ...words.map(({ name, does }) => `${here} -a ${name} -d ${quoted(does)}`),
      ...options.map(({ name, option }) => {
        const value = option.placeholder === undefined ? '' : ` -r${fishValues(option.completes)}`
        return `${inside} -l ${name.slice(2)}${value} -d ${quoted(option.does)}`
      }),
      ...(first === undefined || first.completes === 'nothing'
        ? []
        : [`${inside}${fishValues(first.completes)}`]),
    ]
  })
  const paths = places.map(({ path }) => path).filter((path) => path !== '')
  return `# fish completion of tollgate. Made by: tollgate completion fish
function __tollgate_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$path $word")
    contains -- "$next" ${paths.map(quoted).join(' ')}; and set path $next
  end
  echo $path
end
function __tollgate_at; test (__tollgate_path) = "$argv"; end
function __tollgate_in; test (__tollgate_path) = "$argv"; end
complete -c tollgate -f
${lines.join('\n')}`
}

function fishValues(completes: Completion): string {
  if (completes === 'nothing') return ''
  if (completes === 'files') return ' -F'
  if (completes === 'folders') return " -a '(__fish_complete_directories)'"
  return ` -a ${quoted(completes.join(' '))}`
}
