import { isWithin } from '../../canonical/address-blocks.ts'
import type { AdminFilter, Condition, LogRow, Range, Test } from './row-tests.ts'

/** The same test as the conditions of a statement, for rows in memory. `withIds` must have been called. */
export function matches({ conditions }: AdminFilter): (row: LogRow) => boolean {
  return (row) => conditions.every((condition) => isMet(condition, row))
}

function isMet(condition: Condition, row: LogRow): boolean {
  if (condition.test === 'tagged' && condition.not) {
    return !condition.tags.some((tag) => (tag === null ? hasNoTags(row) : row.tags?.includes(tag)))
  }
  return passes(condition, row) !== condition.not
}

function passes(test: Test, row: LogRow): boolean {
  switch (test.test) {
    case 'is':
      return test.columns.some((column) => test.values.some((value) => value === row[column]))
    case 'named':
      throw new Error(`the names in a ${test.kind} test have not been resolved: call withIds first`)
    case 'contains': {
      const text = row[test.column]
      const lower = text === null ? null : String(text).toLowerCase()
      return test.parts.some((part) =>
        part === null || lower === null ? part === lower : lower.includes(part.toLowerCase()),
      )
    }
    case 'between': {
      const value = row[test.column]
      return test.ranges.some((range) =>
        range === null || value === null ? range === value : isIn(range, BigInt(String(value))),
      )
    }
    case 'uncharged': {
      const { cost_nano: cost, charged_nano: charged } = row
      const isUncharged = cost === null ? null : BigInt(cost) > BigInt(charged ?? cost)
      return test.values.includes(isUncharged)
    }
    case 'within': {
      const address = row[test.column]
      return test.blocks.some((block) =>
        block === null || address === null ? block === address : isWithin(address, [block]),
      )
    }
    case 'tagged':
      return test.tags.every((tag) => (tag === null ? hasNoTags(row) : row.tags?.includes(tag)))
  }
}

function hasNoTags({ tags }: LogRow): boolean {
  return tags === null || tags.length === 0
}

function isIn({ least, most }: Range, value: bigint): boolean {
  return (least === undefined || value >= least) && (most === undefined || value <= most)
}
