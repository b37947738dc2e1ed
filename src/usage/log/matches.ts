import { isWithin } from '../../canonical/address-blocks.ts'
import { type Dialect, type LogFilter, type LogRow, piecesOf } from './row-tests.ts'

/** The same test as the conditions of a statement, for rows in memory. `withIds` must have been called. */
export function matches(filter: LogFilter): (row: LogRow) => boolean {
  return inMemory.all(piecesOf(inMemory, filter))
}

const inMemory: Dialect<(row: LogRow) => boolean> = {
  isNull: (column) => (row) => row[column] === null,
  isOneOf: (column, values) => (row) => values.some((value) => value === row[column]),
  contains(column, part) {
    const lower = part.toLowerCase()
    return ({ [column]: text }) => text !== null && String(text).toLowerCase().includes(lower)
  },
  isBetween:
    (column, { least, most }) =>
    ({ [column]: number }) => {
      if (number === null) return false
      const value = BigInt(String(number))
      return (least === undefined || value >= least) && (most === undefined || value <= most)
    },
  isWithin:
    (column, block) =>
    ({ [column]: address }) =>
      address !== null && isWithin(String(address), [block]),
  isUncharged:
    (value) =>
    ({ cost_nano: cost, charged_nano: charged }) =>
      value === (cost === null ? null : BigInt(cost) > BigInt(charged ?? cost)),
  hasTags: (tags) => (row) => tags.every((tag) => row.tags?.includes(tag)),
  hasNoTags: ({ tags }) => tags === null || tags.length === 0,
  any: (pieces) => (row) => pieces.some((piece) => piece(row)),
  all: (pieces) => (row) => pieces.every((piece) => piece(row)),
  isNotTrue: (piece) => (row) => !piece(row),
}
