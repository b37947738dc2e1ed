import { expect, test } from 'vitest'
import { attemptColumns } from '../../src/journal/attempt-row.ts'
import { type Column, jsonOf, writeColumns } from '../../src/journal/column.ts'
import { requestColumns } from '../../src/journal/row.ts'
import { TupleWriter } from '../../src/journal/tuple.ts'
import {
  leak,
  plantedAssignments,
  plantedContexts,
  plantedForms,
  plantedTokens,
} from '../redaction/planted-secrets.ts'

/** What writes a row, and a secret in every column. */

const lists: readonly (readonly Column<never>[])[] = [requestColumns, attemptColumns]
const texts = lists.flat().filter(({ kind }) => kind === 'text' || kind === 'texts' || kind === 'array')
const planted = [...plantedTokens(), ...plantedForms(), ...plantedAssignments(), ...plantedContexts()]

/** The column, whose value is always this text. */
function holding(column: Column<never>, text: string): Column<never> {
  switch (column.kind) {
    case 'text':
      return { ...column, from: () => text }
    case 'texts':
      return { ...column, from: () => ['first', text] }
    case 'array':
      return { ...column, from: () => JSON.stringify([{ path: text, reason: text }]) }
    default:
      throw new Error(`${column.name} holds no text`)
  }
}

test('no column shows a secret of any kind, in a tuple or in JSON', () => {
  expect(new Set(planted.map(({ kind, text }) => `${kind} ${text.slice(0, 8)}`)).size).toBeGreaterThan(80)
  const source: never = undefined as never
  for (const column of texts.filter(({ trusted }) => trusted === undefined)) {
    for (const secret of planted) {
      const held = holding(column, secret.text)
      const out = new TupleWriter(4096)
      writeColumns(out, [held], source)
      const written = out.written.toString('utf8')
      for (const kept of [written, JSON.stringify(jsonOf(held, source))]) {
        expect(leak(kept, secret), `${column.name}: ${kept}`).toBeUndefined()
        // A short column may cut the placeholder, and it is not text of the secret that is left.
        expect(kept, column.name).toContain('[REDACTED')
      }
    }
  }
})

test('a secret that lies across the bound of its column leaves no part of itself', () => {
  const source: never = undefined as never
  for (const column of texts.filter(({ trusted, kind }) => trusted === undefined && kind === 'text')) {
    for (const secret of plantedTokens()) {
      const held = holding(column, `${'x '.repeat(column.max / 2 - 10)}${secret.text}`)
      const out = new TupleWriter(4096)
      writeColumns(out, [held], source)
      expect(leak(out.written.toString('utf8'), secret), column.name).toBeUndefined()
      expect(String(jsonOf(held, source)).length).toBeLessThanOrEqual(column.max)
    }
  }
})

test('a column that is written without a search says why', () => {
  const unsearched = texts.filter(({ trusted }) => trusted !== undefined)
  const names = (columns: readonly Column<never>[] | undefined) => columns?.map(({ name }) => name)
  const byReason = Object.groupBy(unsearched, ({ trusted }) => trusted ?? '')
  expect(names(byReason['operators choose it, and find rows by it'])).toEqual(['channel', 'channel'])
  expect(new Set(names(byReason['the gateway has a list of these words, or computes them']))).toEqual(
    new Set([
      'client_protocol',
      'upstream_protocol',
      'outcome',
      'error_kind',
      'error_reason',
      'usage_source',
      'stream_end',
      'price_multiplier',
      'credential',
    ]),
  )
  expect(Object.keys(byReason)).toHaveLength(2)
})
