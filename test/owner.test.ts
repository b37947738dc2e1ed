import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { livesHere, type Owner, ownerIn, ownerState, ownerText } from '../src/runtime/owner.ts'
import { until } from './support/until.ts'

const own: Owner = JSON.parse(ownerText())

const cases: [string, Partial<Owner>, ReturnType<typeof ownerState>][] = [
  ['this process', {}, 'alive'],
  ['a process that has ended', { pid: spawnSync('/bin/true').pid }, 'dead'],
  ['another process with its pid', { startTicks: '1' }, 'dead'],
  ['a process that lives, with the start of another', { pid: process.ppid }, 'dead'],
  ['a process of another host', { host: 'another' }, 'elsewhere'],
  ['a process of another boot: copied machines share their host name', { bootId: 'another' }, 'elsewhere'],
  ['a process of another container', { pidNamespace: 'pid:[1]' }, 'elsewhere'],
]
test.each(cases)('%s', (_, change, state) => {
  expect(ownerState(ownerIn(JSON.stringify({ ...own, ...change })))).toBe(state)
})

test('a file that names no owner, or half of one, leaves open whether its owner lives', () => {
  for (const text of [undefined, '', ownerText().slice(0, 30), 'null', '12'])
    expect(ownerState(ownerIn(text))).toBe('elsewhere')
})

test('a zombie is dead: its parent has not asked for its end yet', async () => {
  // The shell becomes a program that never waits for its child.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec tail -f /dev/null'])
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(line)
  const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  await until(() => stat()[0] === 'Z')
  expect(livesHere({ ...own, pid, startTicks: stat()[19] ?? '' })).toBe(false)
  parent.kill()
  await once(parent, 'exit')
})
