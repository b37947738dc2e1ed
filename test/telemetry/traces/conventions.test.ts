import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { expect, test } from 'vitest'
import { named, own, usageOfCall, usageOfRow } from '../../../src/telemetry/traces/conventions.ts'

test('attributes have the names of the conventions, or our own beginning', () => {
  const known = new Set<unknown>(Object.values(conventions))
  for (const name of [...Object.values(named), ...Object.values(usageOfCall)])
    expect(known, name).toContain(name)
  for (const name of [...Object.values(own), ...Object.values(usageOfRow)])
    expect(name).toMatch(/^tollgate\.[a-z_.]+$/)
})
