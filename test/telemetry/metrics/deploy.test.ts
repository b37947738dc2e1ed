import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { type Declaration, declared } from '../../../src/telemetry/metrics/declarations.ts'
import { alertRules, dashboardQueries } from '../../support/alert-rules.ts'

/** The dashboard and the alerts, without Prometheus. */

const known = Object.values<Declaration>(declared)
const sampleNames = new Map(
  known.flatMap((one) =>
    (one.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map(
      (end) => [one.name + end, one] as const,
    ),
  ),
)

test.each([
  ...dashboardQueries().map(({ panel, query }) => [panel, query]),
  ...alertRules().map(({ alert, expr }) => [alert, expr]),
])('%s asks for metrics and labels that exist', (_, query) => {
  const named = [...(query ?? '').matchAll(/\b((?:tollgate|process)_\w+)(?:\{([^}]*)\})?/g)]
  const isOnlyUp = /\bup\{/.test(query ?? '')
  expect(named.length).toBeGreaterThan(isOnlyUp ? -1 : 0)
  for (const [, name = '', matchers = ''] of named) {
    const declaration = sampleNames.get(name)
    expect(declaration, `${name} is not declared`).toBeDefined()
    const labels = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)/g)].map(([, label]) => label)
    for (const label of labels) expect(['job', 'le', ...(declaration?.labels ?? [])], name).toContain(label)
  }
})

test('each alert names a part of the runbook', () => {
  const runbook = readFileSync(resolve(import.meta.dirname, '../../../docs/runbook.md'), 'utf8')
  const anchors = [...runbook.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
  for (const { alert, annotations } of alertRules()) {
    const [page, anchor = ''] = annotations.runbook.split('#')
    expect(page, alert).toBe('docs/runbook.md')
    expect(anchors, alert).toContain(anchor)
  }
})
