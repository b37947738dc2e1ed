import { expect, it } from 'vitest'
import { type ReasoningEffort, reasoningEfforts } from '../../src/canonical/chat.ts'
import { budgetOfEffort, effortOfBudget, nearestEffort } from '../../src/protocols/effort.ts'

it.each<[number, ReasoningEffort]>([
  [0, 'none'],
  [1, 'low'],
  [4096, 'low'],
  [10_000, 'medium'],
  [16_384, 'high'],
  [65_536, 'high'],
])('a budget of %i tokens is the effort %s', (tokens, effort) => {
  expect(effortOfBudget(tokens)).toBe(effort)
})

it('the budget of an effort that every model takes is that effort again', () => {
  for (const effort of ['none', 'low', 'medium', 'high'] as const) {
    expect(effortOfBudget(budgetOfEffort(effort))).toBe(effort)
  }
  const budgets = reasoningEfforts.map(budgetOfEffort)
  expect(budgets).toEqual([...budgets].sort((a, b) => a - b))
})

it.each<[ReasoningEffort, ReasoningEffort[], ReasoningEffort | undefined]>([
  ['medium', ['low', 'medium'], 'medium'],
  ['max', ['low', 'high'], 'high'],
  ['medium', ['low', 'high'], 'low'],
  ['medium', ['high', 'low'], 'low'],
  ['minimal', ['none', 'medium'], 'medium'],
  ['none', ['low', 'high'], 'low'],
  ['none', ['none', 'low'], 'none'],
  ['low', ['none'], undefined],
  ['low', [], undefined],
])('nearest to %s of %j is %s', (effort, levels, nearest) => {
  expect(nearestEffort(effort, levels)).toBe(nearest)
})
