import { describe, expect, test } from 'vitest'
import {
  countsWords,
  erasureState,
  erasureWords,
  isUnderWay,
} from '../../console/src/pages/settings/erasure-words.ts'
import { libraryOf, pricesOf } from '../../console/src/pages/settings/library-choice.ts'
import { grouped, groupOf, matches, settingWords } from '../../console/src/pages/settings/setting-groups.ts'
import { readConfig, variableOf } from '../../src/config/config.ts'

const { bounds, ...config } = readConfig({})
const names = [...Object.keys(config), ...Object.keys(bounds)].map(variableOf)

describe('settings', () => {
  test('have a group each, and none is lost', () => {
    expect(names.filter((name) => groupOf(name) === 'Others')).toEqual([])
    const inGroups = grouped(names.map((name) => ({ name }))).flatMap(({ settings }) => settings)
    expect(inGroups.map(({ name }) => name).sort()).toEqual([...names].sort())
  })

  test('that no one has put into a group appear at the end', () => {
    expect(grouped([{ name: 'XYZ' }, { name: 'PORT' }]).map(({ title }) => title)).toEqual([
      'Place and process',
      'Others',
    ])
  })

  test('are shown with their units', () => {
    expect(settingWords('IMAGE_WAIT_MS', 60_000)).toEqual({ words: '1 min', exact: '60000 ms' })
    expect(settingWords('JOURNAL_BYTES_MAX', 2_147_483_648)).toEqual({
      words: '2 GB',
      exact: '2147483648 bytes',
    })
    expect(settingWords('HOT_DAYS', 14)).toEqual({ words: '14 days' })
    expect(settingWords('SESSION_HOURS', 1)).toEqual({ words: '1 hour' })
    expect(settingWords('ALERT_RULES_MAX', 1_000)).toEqual({ words: '1000' })
    expect(settingWords('PAGES', ['console', 'docs'])).toEqual({ words: 'console, docs' })
    expect(settingWords('PUBLIC_URL', null)).toEqual({ words: 'not set' })
    expect(settingWords('HOT_DAYS', 0)).toEqual({ words: '0' })
  })

  test('are found by words in any order', () => {
    expect(matches('IMAGE_WAIT_MS', 'wait image')).toBe(true)
    expect(matches('IMAGE_WAIT_MS', 'image bytes')).toBe(false)
    expect(matches('IMAGE_WAIT_MS', '')).toBe(true)
  })
})

test('the library of prices is read and said as gateway.yaml has it', () => {
  const renewed = { library: true, renew: 'daily', renew_from: 'https://mirror.example.com/data.json' }
  for (const value of [null, 'library', renewed]) expect(pricesOf(libraryOf(value))).toEqual(value)
  expect(pricesOf({ choice: 'daily', renewFrom: ' ' })).toEqual({ library: true, renew: 'daily' })
  expect(pricesOf(libraryOf({ library: true }))).toBe('library')
})

describe('an erasure', () => {
  test('says what goes and what stays', () => {
    const content = erasureWords({ tenant: 'acme', what: 'content', end_user: 'alice' })
    expect(content.goes).toContain('the end user alice of acme')
    expect(content.stays).toContain('Rows stay')
    const rows = erasureWords({ tenant: 'acme', what: 'rows' })
    expect(rows.goes).toContain('Every row of the usage log of the tenant acme')
    expect(rows.stays).toContain('Money stays')
  })

  test('says how far it is', () => {
    const state = (changes: object) =>
      erasureState({ state: 'running', dry_run: false, waits_for: null, error: null, ...changes } as never)
    expect(state({})).toEqual({ tone: 'info', words: 'running' })
    expect(state({ state: 'waiting', waits_for: 'image jobs' }).words).toBe('waits for image jobs')
    expect(state({ error: 'a bucket' })).toEqual({ tone: 'warning', words: 'tries again: a bucket' })
    expect(state({ state: 'succeeded' })).toEqual({ tone: 'good', words: 'erased' })
    expect(state({ state: 'succeeded', dry_run: true }).words).toBe('counted')
    expect(isUnderWay({ state: 'waiting' })).toBe(true)
    expect(isUnderWay({ state: 'cancelled' })).toBe(false)
  })

  test('counts what is gone, and tells no zeros', () => {
    expect(countsWords({ requests: 1_200, kept_answers: 3, files: 0 })).toBe('requests 1,200, kept answers 3')
    expect(countsWords({ requests: 0 })).toBeUndefined()
  })
})
