import { describe, expect, test } from 'vitest'
import {
  heldFor,
  journalShare,
  ledgerWords,
  signWords,
  sumOf,
  verificationWords,
} from '../../console/src/pages/ledger/ledger-words.ts'

const ready = {
  status: 'ready',
  postgres: 'reached',
  unshipped: { rows: 0, bytes: 0, oldest_ms: 0 },
  journal: { bytes: 0, bytes_max: 2_147_483_648, trouble: null },
} as const

describe('the ledger in a sentence', () => {
  test('that is well', () => {
    expect(ledgerWords(ready)).toEqual({ tone: 'good', words: 'Postgres has every row.' })
    const unshipped = { rows: 3, bytes: 900, oldest_ms: 200 }
    expect(ledgerWords({ ...ready, unshipped })).toEqual({
      tone: 'good',
      words: 'Postgres has every row up to 200 ms ago.',
    })
  })

  test('that waits, is cut off, or is nearly full', () => {
    const unshipped = { rows: 1_200, bytes: 900, oldest_ms: 61_000 }
    expect(ledgerWords({ ...ready, unshipped })).toEqual({
      tone: 'warning',
      words: 'Postgres is behind: 1,200 rows wait in the journal, the oldest for 1 min 1 s.',
    })
    expect(ledgerWords({ ...ready, postgres: 'away', status: 'degraded' })).toEqual({
      tone: 'bad',
      words: 'Postgres does not answer. Nothing is lost: no row waits.',
    })
    expect(ledgerWords({ ...ready, status: 'near_bound', postgres: 'away' }).words).toContain('nearly full')
  })
})

test('the journal is judged by how full it is', () => {
  const journal = { bytes: 0, bytes_max: 100, trouble: null }
  expect(journalShare(journal)).toEqual({ percent: 0, tone: 'good' })
  expect(journalShare({ ...journal, bytes: 60 })).toEqual({ percent: 60, tone: 'warning' })
  expect(journalShare({ ...journal, bytes: 150 })).toEqual({ percent: 100, tone: 'bad' })
  expect(journalShare({ ...journal, bytes_max: 0 }).percent).toBe(0)
})

test('held money is shown by age, and nothing of ages without it', () => {
  const held = heldFor({
    complete: true,
    ages: [
      { under_seconds: 60, count: 2, nano_usd: '5' },
      { under_seconds: 600, count: 0, nano_usd: '0' },
      { under_seconds: 3_600, count: 1, nano_usd: '9007199254740993' },
      { under_seconds: null, count: 1, nano_usd: '1' },
    ],
  })
  expect(held.map(({ age }) => age)).toEqual(['less than 1 min', '10 min to 1 h', '1 h or longer'])
  expect(sumOf(held)).toBe('9007199254740999')
})

test('a process that is silent for a minute is reported', () => {
  const now = Date.parse('2026-11-24T12:00:00.000Z')
  expect(signWords('2026-11-24T11:59:56.300Z', now)).toEqual({ tone: 'good', words: '3 s ago' })
  expect(signWords('2026-11-24T12:00:02.000Z', now)).toEqual({ tone: 'good', words: 'now' })
  expect(signWords('2026-11-24T11:58:00.000Z', now)).toEqual({ tone: 'warning', words: 'silent for 2 min' })
})

describe('a verification in a sentence', () => {
  const running = {
    state: 'running',
    holds: null,
    requests: null,
    orphaned: null,
    findings: null,
    error: null,
    progress: { done: 0, of: 0, doing: null },
  } as const

  test('that runs, was cancelled, or has failed', () => {
    expect(verificationWords(running).words).toBe('It begins.')
    const progress = { done: 1_233, of: 1_300, doing: 'every sum by day matches its requests' }
    expect(verificationWords({ ...running, progress })).toEqual({
      tone: 'info',
      words: 'Step 1,234 of 1,300: every sum by day matches its requests.',
    })
    expect(verificationWords({ ...running, state: 'cancelled' }).tone).toBe('warning')
    expect(verificationWords({ ...running, state: 'failed', error: 'It was stopped.' })).toEqual({
      tone: 'bad',
      words: 'It failed. It was stopped.',
    })
  })

  test('that has ended, with what it found', () => {
    const finding = { rule: 'one', differences: 0, samples: [] }
    const ended = { ...running, state: 'ended', requests: 1_200, orphaned: 2 } as const
    expect(verificationWords({ ...ended, holds: true, findings: [finding] })).toEqual({
      tone: 'good',
      words: 'Every rule holds: 1,200 requests, 2 of them orphaned.',
    })
    const findings = [finding, { ...finding, differences: 3 }]
    expect(verificationWords({ ...ended, holds: false, findings, requests: 1, orphaned: 0 })).toEqual({
      tone: 'bad',
      words: '1 rule does not hold: 1 request, 0 of them orphaned. The runbook says what to do.',
    })
  })
})
