import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { onTerminal } from '../support/on-terminal.ts'
import { runTollgate } from '../support/run-tollgate.ts'

/** The scripts that `tollgate completion` prints, in the shells themselves. test/commands/terminal.test.ts has bash. */

const folder = mkdtempSync(join(tmpdir(), 'tollgate-completion-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tollgate = `'${process.execPath}' '${resolve('tollgate.cjs')}'`

const script = async (shell: 'zsh' | 'fish') => {
  const path = join(folder, `tollgate.${shell}`)
  const { output } = await runTollgate(['completion', shell], {})
  writeFileSync(path, output)
  return path
}

test('zsh completes commands, options, fixed values and files', async () => {
  writeFileSync(join(folder, 'frames.json'), '{}')
  const typed = [
    'tollgate led\tver\t--si\t2026-10',
    'tollgate completion z\t',
    'tollgate keys create acme dev --gr\tx',
    'tollgate logs find not=1 stat\t5xx',
    `tollgate ledger replay --row ${join(folder, 'fram\t')}x`,
    `tollgate --env-file ${folder} secrets ro\t--n\t`,
    'tollgate import litellm --key\tx',
  ]
  const prompt = 'ready>'
  const path = await script('zsh')
  // The shell says what the command would get.
  const ours = `tollgate() { if [ "$1" = __complete ]; then ${tollgate} "$@"; else print -r -- "GOT $*"; fi }`
  const begin = `autoload -Uz compinit; compinit -D -u; source ${path}; ${ours}`
  const { text } = await onTerminal(
    'zsh -f -i',
    { PS1: prompt },
    { asked: prompt, answer: `${begin}\n${typed.map((line) => `${line}\n`).join('')}exit\n` },
  )
  const got = [...text.matchAll(/^GOT (.*)$/gm)].map(([, words]) => words?.trim())
  expect(got, text).toEqual([
    'ledger verify --since 2026-10',
    'completion zsh',
    'keys create acme dev --group x',
    'logs find not=1 status=5xx',
    `ledger replay --row ${join(folder, 'frames.json')} x`,
    `--env-file ${folder} secrets rotate --new-master`,
    'import litellm --keys x',
  ])
})

test('fish completes commands, options, fixed values and files, with what each does', async () => {
  writeFileSync(join(folder, 'frames.json'), '{}')
  const path = await script('fish')
  const ours = `function tollgate; ${tollgate} $argv; end`
  const completed = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', `${ours}; source ${path}; complete -C '${line}'`], {
      encoding: 'utf8',
      cwd: folder,
    })
      .trim()
      .split('\n')
  expect(completed('tollgate led')).toEqual(['ledger\tverify, inspect, replay'])
  expect(completed('tollgate ledger ver')).toEqual([
    'verify\trecompute balances, budgets and sums, and report for each rule whether it holds',
  ])
  expect(completed('tollgate ledger verify --si')).toEqual([expect.stringMatching(/^--since\t/)])
  expect(completed('tollgate completion z').map((line) => line.split('\t')[0])).toEqual(['zsh'])
  expect(completed('tollgate logs find stat')).toEqual(['status='])
  expect(completed('tollgate logs find tenant=acme stat')).toEqual(['status='])
  expect(completed('tollgate ledger replay --row fram')).toEqual(['frames.json'])
  expect(completed('tollgate --env-file x secrets rotate --n')).toEqual([
    expect.stringMatching(/^--new-master\t/),
  ])
  expect(completed('tollgate ledger verify led')).toEqual([''])
})
