import { expect, test } from 'vitest'
import { SubKeyTurns } from '../../src/access/sub-key-turns.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { until } from '../support/until.ts'

const stays = new AbortController().signal

/** Changes that end when the test says so. */
function changes(options: Partial<ConstructorParameters<typeof SubKeyTurns>[0]> = {}) {
  const turns = new SubKeyTurns({ atOnce: 2, waitingMax: 3, waitMs: 60_000, ...options })
  const running: { name: string; end(): void }[] = []
  const begin = (owner: string, name: string, signal = stays) =>
    turns
      .run({ owner, signal }, () => new Promise<void>((end) => running.push({ name, end })))
      .then(
        () => 'ended',
        (error: unknown) => (error instanceof GatewayError ? error.reason : (error as Error).message),
      )
  return { begin, running, names: () => running.map(({ name }) => name) }
}

test('no more run at once than may, and tenants take turns', async () => {
  const { begin, running, names } = changes()
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => begin(name.slice(0, 1), name))
  await until(() => running.length === 2)
  expect(names()).toEqual(['a1', 'a2'])
  for (let ended = 0; ended < all.length; ended++) {
    await until(() => running.length > ended)
    running[ended]?.end()
  }
  expect(await Promise.all(all)).toEqual(Array.from(all, () => 'ended'))
  expect(names()).toEqual(['a1', 'a2', 'a3', 'b1', 'a4'])
})

test('a tenant of whom too many wait is refused, and others are not', async () => {
  const { begin, running, names } = changes()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void begin('a', name)
  expect(await begin('a', 'a6')).toBe('sub_key_changes_full')
  void begin('b', 'b1')
  await until(() => running.length === 2)
  running[0]?.end()
  running[1]?.end()
  await until(() => running.length === 4)
  expect(names()).toEqual(['a1', 'a2', 'a3', 'b1'])
})

test('a change whose client leaves, and one that waits too long, give their turn away', async () => {
  const { begin, running, names } = changes({ atOnce: 1, waitMs: 50 })
  void begin('a', 'a1')
  const leaving = new AbortController()
  const left = begin('a', 'a2', leaving.signal)
  leaving.abort(new Error('left'))
  expect(await left).toBe('left')
  expect(await begin('a', 'a3')).toBe('sub_key_changes_slow')
  running[0]?.end()
  void begin('a', 'a4')
  await until(() => running.length > 1)
  expect(names()).toEqual(['a1', 'a4'])
  expect(await begin('a', 'a5', AbortSignal.abort(new Error('gone')))).toBe('gone')
})

test('a change that fails gives its turn away', async () => {
  const turns = new SubKeyTurns({ atOnce: 1, waitingMax: 1, waitMs: 60_000 })
  const run = (change: () => Promise<string>) => turns.run({ owner: 'a', signal: stays }, change)
  const failed = run(() => Promise.reject(new Error('no')))
  const other = run(async () => 'ran')
  await expect(failed).rejects.toThrow('no')
  expect(await other).toBe('ran')
})
