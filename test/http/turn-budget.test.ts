import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TurnBudget } from '../../src/http/turn-budget.ts'

test('the bytes of a turn are moved at once, further bytes wait for later turns, and the owners take turns', async () => {
  const budget = new TurnBudget(100)
  const moved: string[] = []
  const take = (owner: string, name: string) => {
    const wait = budget.take(owner, 60)
    if (wait === undefined) moved.push(name)
    else void wait.then(() => moved.push(name))
  }
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) take('a', name)
  take('b', 'b1')
  // The last bytes of a turn may exceed it: no piece is too large for every turn.
  expect(moved).toEqual(['a1', 'a2'])
  const turns: string[][] = []
  while (moved.length < 7) {
    const before = moved.length
    await turn()
    turns.push(moved.slice(before))
  }
  expect(turns.filter(({ length }) => length > 0)).toEqual([['a3', 'b1'], ['a4', 'a5'], ['a6']])
  await turn()
  take('a', 'a7')
  expect(moved.at(-1)).toBe('a7')
})
