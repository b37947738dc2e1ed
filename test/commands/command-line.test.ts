import { describe, expect, test } from 'vitest'
import { groups, optionName } from '../../src/commands/command.ts'
import { exitCodes, meanings } from '../../src/commands/exit-codes.ts'
import { commonOptions } from '../../src/commands/options.ts'
import { commands } from '../../src/commands/registry.ts'
import { runCommand } from '../../src/commands/run-command.ts'

/** A command in this process. */
async function run(args: readonly string[], env: Record<string, string> = {}, columns?: number) {
  const texts = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      texts[name] += text
    },
    ...(columns !== undefined && { isTTY: true, columns }),
  })
  const streams = { env, stdin: process.stdin, stdout: output('stdout'), stderr: output('stderr') }
  const code = await runCommand(commands, args, streams, new AbortController().signal)
  return { code, ...texts }
}

describe('the help', () => {
  test('lists every command with what it does, under its heading, and every exit code', async () => {
    const { code, stdout, stderr } = await run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const flat = stdout.replaceAll(/\s+/g, ' ')
    for (const { name, does } of commands) expect(flat).toContain(` ${name} ${does} `)
    for (const group of groups) expect(stdout).toContain(`\n${group}:\n`)
    for (const exitCode of Object.values(exitCodes))
      expect(stdout).toContain(`  ${String(exitCode).padEnd(4)}${meanings[exitCode]}`)
  })

  test.each(commands.map((command) => [command.name, command] as const))(
    'of %s has all its options and arguments',
    async (name, command) => {
      const { code, stdout } = await run([...name.split(' '), '--help'])
      expect(code).toBe(0)
      for (const option of Object.keys({ ...command.options, ...commonOptions }))
        expect(stdout).toContain(`  ${optionName(option)} `)
      for (const { placeholder } of Object.values(command.arguments)) expect(stdout).toContain(placeholder)
    },
  )

  test('fits 80 columns, has colours on a terminal only, and none with NO_COLOR', async () => {
    const colour = '\u001b['
    const terminal = await run(['--help'], {}, 80)
    expect(terminal.stdout).toContain(colour)
    expect((await run(['--help'], { NO_COLOR: '1' }, 80)).stdout).not.toContain(colour)
    expect((await run(['--help'])).stdout).not.toContain(colour)
    for (const { name } of commands) {
      const { stdout } = await run([...name.split(' '), '--help'], { NO_COLOR: '1' }, 80)
      // What is to be pasted is not broken.
      const lines = stdout.split('\n').filter((line) => !line.includes('completion '))
      for (const line of lines) expect([...line].length, `${name}: ${line}`).toBeLessThanOrEqual(80)
    }
  })
})

describe('a wrong command line is exit code 2, names what is wrong, and prints nothing on stdout', () => {
  test.each([
    [['startt'], "unknown command 'startt' (Did you mean start?). Run tollgate --help"],
    [['ledger', 'vrify'], "unknown command 'vrify' (Did you mean verify?). Run tollgate ledger --help"],
    [['ledger', 'verify', '--sinc', '2026-10'], "unknown option '--sinc' (Did you mean --since?)"],
    [['ledger', 'verify', '--since', 'October'], 'tollgate ledger verify: --since must be a month such as'],
    [['ledger', 'verify', '--since'], "option '--since <MONTH>' argument missing"],
    [['ledger', 'replay'], "missing required argument 'ID'"],
    [['topup', 'acme', 'ten'], 'AMOUNT must be an amount in USD'],
    [['topup', 'acme', '1', '--id', 'x'], '--id must be a UUID, not "x"'],
    [['keys', 'rotate', 'acme/dev', '--grace', '-1'], '--grace must be a whole number from 0 to 2592000'],
    [['keys', 'revoke', 'dev'], 'KEY must be TENANT/NAME or an id, not "dev"'],
    [['keys', 'create', 'acme', 'dev', '--set', 'strict'], '--set must be NAME=VALUE, not "strict"'],
    [['logs', 'find', 'status'], 'FILTER must be NAME=VALUE, not "status"'],
    [['logs', 'find', 'statuss=5xx'], 'unknown filter "statuss". The filters are tenant, tenant_id'],
    [
      ['logs', 'find', '--from', 'yesterday'],
      '--from must be a time such as 2026-11-26T03:00:00Z, or a time ago such as 15m',
    ],
    [['logs', 'tail', '--url', 'localhost:8787'], '--url must be an address that starts with http://'],
    [['keys', 'list', '--url', 'http://me:word@127.0.0.1'], '--url must not contain a user or password'],
    [['completion', 'tcsh'], 'SHELL must be one of bash, zsh, fish, not "tcsh"'],
    [['import', 'kong', 'x'], 'FORMAT must be one of new-api, litellm, gateway-yaml, not "kong"'],
    [['apply', '/no/such/file'], '/no/such/file cannot be read'],
    [['start', 'now'], "too many arguments for 'start'"],
    [['--env-file', '/no/such/file', 'ledger', 'verify'], '--env-file: cannot read /no/such/file'],
  ])('%j', async (args, said) => {
    const { code, stdout, stderr } = await run(args, { TOLLGATE_TOKEN: 'a-token' })
    expect(stderr).toContain(said)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('so is a token that is missing, and a group of commands alone', async () => {
    expect(await run(['keys', 'list'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('an API token is required. Set TOLLGATE_TOKEN'),
    })
    expect(await run(['keys'])).toMatchObject({ code: 2, stderr: expect.stringContaining('create') })
    expect(await run([])).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage: tollgate') })
  })

  test('and a configuration with wrong values: all of them are named', async () => {
    const env = { PORT: 'many', DATABASE_URL: 'mysql://x' }
    const { code, stderr } = await run(['ledger', 'verify'], env)
    expect(code).toBe(2)
    expect(stderr).toContain('  PORT: must be')
    expect(stderr).toContain('  DATABASE_URL: must be')
  })
})

test('no command takes a token as an argument, where every user of the machine would see it', () => {
  for (const { name, options } of commands)
    for (const option of Object.keys(options))
      expect(option, `tollgate ${name}`).not.toMatch(/^(token|password|secret|adminToken)$/i)
})

test('a command that the registry has twice, or without a heading, would be lost', () => {
  const names = commands.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, group } of commands) expect(groups, name).toContain(group)
})
