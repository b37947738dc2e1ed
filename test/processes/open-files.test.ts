import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ask, patient, startSeveral } from './several.ts'

test('a process that cannot start because open files ran out is tried again, and the others go on serving', async () => {
  const several = await startSeveral()
  const [victim = 0, other = 0] = several.members()
  const limitFiles = (most: string) =>
    expect(spawnSync('prlimit', ['--pid', String(several.pid), `--nofile=${most}:`]).status).toBe(0)
  limitFiles('3')
  process.kill(victim, 'SIGKILL')
  await expect
    .poll(() => several.stderr().match(/could not be started/g)?.length ?? 0, patient)
    .toBeGreaterThan(1)
  expect(several.members()).toEqual([other])
  expect(await ask(several)).toBe(200)
  limitFiles('1024')
  await expect.poll(() => several.stderr().match(/"msg":"listening"/g)?.length, patient).toBe(3)
  expect(several.members()).toHaveLength(2)
  expect(await several.stop()).toBe(0)
})
