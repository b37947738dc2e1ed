import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Command, groups, optionName } from '../../src/commands/command.ts'
import { completionsOf } from '../../src/commands/complete.ts'
import { meanings } from '../../src/commands/exit-codes.ts'
import { commands } from '../../src/commands/registry.ts'

const root = join(import.meta.dirname, '../..')
const document = readFileSync(join(root, 'docs/reference/command-line.md'), 'utf8')

/** Options that a table at the top explains for all commands. */
const shared = ['json', 'url', 'tokenFile']

describe('docs/reference/command-line.md', () => {
  test('has every command with what it does, in the order of the help', () => {
    const inOrder = groups.flatMap((group) => commands.filter((one) => one.group === group))
    expect(cellsIn(document).filter(([call]) => call?.startsWith('tollgate '))).toEqual(
      inOrder.map((command) => [callOf(command), command.does]),
    )
  })

  test.each(commands.map((command) => [command.name, command] as const))(
    'has all options of %s and no other',
    (name, { options }) => {
      const section = new RegExp(`^### ${name}\\n([\\s\\S]*?)(?=^###? |$(?![\\s\\S]))`, 'm').exec(
        document,
      )?.[1]
      if (section === undefined) return expect.fail(`there is no heading "### ${name}"`)
      const own = Object.entries(options).filter(([option]) => !shared.includes(option))
      expect(cellsIn(section)).toEqual(
        own.map(([option, { placeholder, does }]) => [
          placeholder === undefined ? optionName(option) : `${optionName(option)} ${placeholder}`,
          does.replaceAll('`', ''),
        ]),
      )
      const also = /^(?:Also|Options): (.*)\.$/m.exec(section)?.[1] ?? ''
      const common = Object.keys(options).filter((option) => shared.includes(option))
      expect(also).toBe(common.map((option) => `\`${optionName(option)}\``).join(', '))
    },
  )

  test('has every exit code and its meaning', () => {
    const codes = cellsIn(document).filter(([code]) => /^\d+$/.test(code ?? ''))
    expect(codes).toEqual(Object.entries(meanings))
  })
})

test('every command that a document names is there', () => {
  const names = new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0] ?? '']))
  const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]
  for (const path of documents) {
    const text = readFileSync(join(root, path), 'utf8')
    for (const [, words = ''] of text.matchAll(/(?:^|`)tollgate ((?:[a-z]+ ?){1,2})/gm)) {
      const [first = '', second = ''] = words.trim().split(' ')
      const isThere = names.has(`${first} ${second}`) || commands.some(({ name }) => name === first)
      expect(isThere || (second === '' && names.has(first)), `${path} names tollgate ${words}`).toBe(true)
    }
  }
})

test('completion has every command and every option, each with what it does', () => {
  for (const { name, does, options } of commands) {
    const words = name.split(' ')
    const last = words.pop() ?? ''
    expect(completionsOf(commands, [...words, last.slice(0, -1)])).toContain(`${last}\t${does}`)
    const offered = completionsOf(commands, [...words, last, '--'])
    for (const [option, { does }] of Object.entries(options))
      expect(offered).toContain(`${optionName(option)}\t${does}`)
    expect(offered).toContain('--help\tprint help')
  }
})

const rotate = `rotate\t${commands.find(({ name }) => name === 'secrets rotate')?.does}`

test.each([
  ['the commands below a word', ['led'], ['words', 'ledger\tverify, inspect, replay']],
  ['an argument', ['completion', 'z'], ['words', 'zsh']],
  ['nothing after the last argument', ['completion', 'zsh', 'b'], ['words']],
  ['an argument that repeats', ['logs', 'find', 'tenant=acme', 'stat'], ['words', 'status=']],
  ['files', ['ledger', 'replay', '--row', 'fram'], ['files']],
  ['folders', ['restore', ''], ['folders']],
  ['the value of an option', ['backup', '--with', 'pg_b'], ['words', 'pg_basebackup']],
  ['the same after =', ['backup', '--with=pg_b'], ['words', '--with=pg_basebackup']],
  ['the same as bash splits it', ['backup', '--with', '=', 'pg_b'], ['words', 'pg_basebackup']],
  ['a value that no one can know', ['keys', 'create', 'acme', 'dev', '--group', ''], ['words']],
  ['a command after the value of an option', ['--env-file', 'x', 'secrets', 'ro'], ['words', rotate]],
])('completion knows %s', (_, typed, offered) => {
  expect(completionsOf(commands, typed)).toEqual(offered)
})

function callOf({ name, arguments: named }: Command): string {
  const words = Object.values(named).map(({ placeholder, required, repeats }) => {
    const word = repeats ? `${placeholder}...` : placeholder
    return required ? word : `[${word}]`
  })
  return ['tollgate', name, ...words].join(' ')
}

/** The cells of all tables but their heads, without backticks. */
function cellsIn(text: string): string[][] {
  const lines = text.split('\n')
  return lines
    .filter((line, at) => line.startsWith('| ') && !/^\| -/.test(line) && !/^\| -/.test(lines[at + 1] ?? ''))
    .map((line) =>
      line
        .slice(2)
        .split(/ \|(?: |$)/)
        .map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\|', '|'))
        .slice(0, -1),
    )
}
