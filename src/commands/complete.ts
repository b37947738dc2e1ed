import { type Command, type Completion, type Option, optionName } from './command.ts'
import { commonOptions, flag } from './options.ts'

/**
 * Returns what a shell can offer to complete the last of the words, as `tollgate __complete` prints it:
 * `files`, `folders`, or `words` followed by one candidate per line, with a tab and a description if there is
 * one.
 */
export function completionsOf(commands: readonly Command[], typed: readonly string[]): string[] {
  // bash splits --option=value into three words.
  const words = typed.filter((word) => word !== '=')
  const word = typed.at(-1) === '=' ? '' : (words.pop() ?? '')
  const { command, path, position, asked } = placeOf(commands, words)
  if (asked !== undefined) return answer(asked.completes, word)
  const options = optionsOf(command)
  const [, name = '', value] = /^(--[^=]+=)(.*)$/.exec(word) ?? []
  if (value !== undefined) return answer(options.get(name.slice(0, -1))?.completes ?? 'nothing', value, name)
  if (word.startsWith('-'))
    return answer(
      [...options].map(([name, { does }]) => `${name}\t${does}`),
      word,
    )
  if (command === undefined) return answer(below(commands, path), word)
  const named = Object.values(command.arguments)
  const argument = named[position] ?? named.findLast(({ repeats }) => repeats)
  return answer(argument?.completes ?? 'nothing', word)
}

/**
 * Finds where the words lead. `asked` is the option whose value comes next; `position` is the index of the
 * next argument.
 */
function placeOf(commands: readonly Command[], words: readonly string[]) {
  let path = ''
  let command: Command | undefined
  let position = 0
  let asked: Option<unknown> | undefined
  for (const word of words) {
    const next = path === '' ? word : `${path} ${word}`
    if (asked !== undefined) asked = undefined
    else if (word.startsWith('-')) {
      const option = optionsOf(command).get(word)
      if (option?.placeholder !== undefined) asked = option
    } else if (command === undefined && commands.some(({ name }) => `${name} `.startsWith(`${next} `))) {
      path = next
      command = commands.find(({ name }) => name === path)
    } else position++
  }
  return { command, path, position, asked }
}

function optionsOf(command: Command | undefined): Map<string, Option<unknown>> {
  const options = { ...command?.options, ...commonOptions, help: flag('print help') }
  return new Map(Object.entries(options).map(([name, option]) => [optionName(name), option]))
}

/** The candidates for the next word of a command: `ledger`, then `verify`. */
function below(commands: readonly Command[], path: string): string[] {
  const prefix = path === '' ? '' : `${path} `
  const does = new Map<string, string[]>()
  for (const { name, does: text } of commands.filter(({ name }) => name.startsWith(prefix))) {
    const [next = '', rest] = name.slice(prefix.length).split(' ')
    does.set(next, [...(does.get(next) ?? []), rest ?? text])
  }
  return [...does].map(([next, texts]) => `${next}\t${texts.join(', ')}`)
}

function answer(completes: Completion, word: string, before = ''): string[] {
  if (completes === 'files' || completes === 'folders') return [completes]
  const lines = completes === 'nothing' ? [] : completes.filter((line) => line.startsWith(word))
  return ['words', ...lines.map((line) => `${before}${line}`)]
}
