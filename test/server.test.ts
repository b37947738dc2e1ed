import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { serverArgs } from './support/tollgate.ts'

/** Prints the flags of every program that comes to run; then the server refuses to start for want of a port. */
function start(...nodeArgs: string[]): { flags: string[][]; status: number | null; stderr: string } {
  const print = 'data:text/javascript,console.log(JSON.stringify(process.execArgv))'
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--import', print, ...nodeArgs, 'src/server.ts'],
    { env: { PORT: 'none' }, encoding: 'utf8', timeout: 30_000 },
  )
  const lines = stdout.trim().split('\n')
  const flags = lines.map((line): string[] =>
    JSON.parse(line).filter((flag: string) => /space|scavenge/.test(flag)),
  )
  return { flags, status, stderr }
}

test('the server gives itself the heap flags that nobody gave it', () => {
  const { flags, status, stderr } = start()
  expect(flags).toEqual([[], serverArgs])
  expect(status).toBe(1)
  expect(stderr).toMatch(/^Tollgate cannot start: .*PORT/s)
})

test('the server keeps the heap flags that it was given', () => {
  expect(start('--max-semi-space-size=32').flags).toEqual([['--max-semi-space-size=32']])
})
