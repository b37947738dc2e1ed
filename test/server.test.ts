import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { serverArgs } from './support/tollgate.ts'

/** Each program prints its flags when it runs. Then the server refuses to start, because it has no port. */
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

test('the server sets heap flags for itself if the command line has none', () => {
  const { flags, status, stderr } = start()
  expect(flags).toEqual([[], serverArgs])
  expect(status).toBe(1)
  expect(stderr).toMatch(/^Tollgate cannot start: .*PORT/s)
})

test('the server keeps the heap flags of the command line', () => {
  expect(start('--max-semi-space-size=32').flags).toEqual([['--max-semi-space-size=32']])
})
