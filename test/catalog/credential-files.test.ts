import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { gatewaySource } from '../../src/catalog/gateway-source.ts'

/** Credentials of channels that are in files which gateway.yaml names. */

const home = mkdtempSync(join(tmpdir(), 'tollgate-credentials-'))
afterAll(() => rmSync(home, { recursive: true }))
// The user that the test becomes must be able to enter.
chmodSync(home, 0o755)

const key = Buffer.from('a key for hashes')

function source(keys: string, env: Record<string, string> = {}) {
  const text = `channels: [{ name: c, protocols: { openai-chat: https://api.example/v1 }, api_keys: [${keys}], models: "*" }]`
  return gatewaySource(text, { path: join(home, 'gateway.yaml'), env })
}

const credentials = (keys: string, env?: Record<string, string>) =>
  source(keys, env).parse().channels[0]?.credentials

function place(name: string, content: string): string {
  writeFileSync(join(home, name), content)
  return name
}

function problemOf(name: string): string {
  try {
    return `none: ${credentials(`"file:${name}"`)}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

test('are read from beside gateway.yaml or from anywhere, without the line break at their end', () => {
  place('plain', 'sk-plain')
  place('line', 'sk-line\n')
  place('windows', 'sk-windows\r\n\r\n')
  expect(credentials(`file:plain, 'file:line', "file:${join(home, 'windows')}", sk-here`)).toEqual([
    'sk-plain',
    'sk-line',
    'sk-windows',
    'sk-here',
  ])
  expect(
    credentials(`"file://${join(home, 'plain')}", "\${NAME}", "file:\${FOLDER}/line"`, {
      NAME: 'file:plain',
      FOLDER: home,
    }),
  ).toEqual(['sk-plain', 'sk-plain', 'sk-line'])
})

test('that cannot be used are reported with the file and the reason, and never with what the file contains', () => {
  mkdirSync(join(home, 'folder'))
  place('empty', '')
  place('blank', '\n\n')
  place('long', 'a'.repeat(8193))
  place('huge', 'a'.repeat(1024 * 1024 + 1))
  place('two', 'sk-first\nsk-second')
  place('umlaut', 'sk-ä')
  const of = (problem: string) => `gateway.yaml:1: channels[0].api_keys[0]: the file ${problem}`
  const shape = 'must be one line of at most 8192 visible ASCII characters'
  expect(
    ['missing', 'folder', 'empty', 'blank', 'long', 'huge', 'two', 'umlaut', '/dev/null'].map(problemOf),
  ).toEqual([
    of('missing cannot be read (ENOENT)'),
    of('folder cannot be read (EISDIR)'),
    of('empty is empty'),
    of('blank is empty'),
    of(`long ${shape}`),
    of('huge cannot be read (EFBIG)'),
    of(`two ${shape}`),
    of(`umlaut ${shape}`),
    of('/dev/null cannot be read (EINVAL)'),
  ])
  chmodSync(join(home, place('closed', 'sk-closed')), 0o000)
  expect(asOrdinaryUser(() => problemOf('closed'))).toBe(of('closed cannot be read (EACCES)'))
})

test('change the meaning of the file, however it names them', () => {
  for (const keys of ['file:swapped', '"file:swapped"', "'file:swapped'", `"\${NAME}"`, `"file:\${AT}"`]) {
    const hash = () => source(keys, { NAME: 'file:swapped', AT: 'swapped' }).hashWith(key).toString('hex')
    place('swapped', 'sk-first')
    const first = hash()
    expect(hash()).toBe(first)
    place('swapped', 'sk-second')
    expect(hash(), keys).not.toBe(first)
  }
  expect(source('"file:swapped", other').files).toEqual([join(home, 'swapped')])
})

/** Root may read everything. */
function asOrdinaryUser<T>(work: () => T): T {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}
