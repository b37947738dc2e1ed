import { describe, expect, test } from 'vitest'
import { ApiError } from '../../console/src/api/client.ts'
import { type PartState, toldOnce } from '../../console/src/parts/failed-parts.ts'

const again = () => {}
const ready: PartState = { state: 'ready', error: null, again }
const waiting: PartState = { state: 'waiting', error: null, again }
/** Each call has a request id of its own. */
let calls = 0
const failed = (detail: string): PartState => ({
  state: 'failed',
  error: new ApiError(503, { title: 'Away', code: 'unavailable', detail, instance: `urn:uuid:${++calls}` }),
  again,
})
const told = (parts: Record<string, PartState>) => {
  const { told, silent } = toldOnce(new Map(Object.entries(parts)))
  return { told: told.map(({ what }) => what), silent: [...silent] }
}

describe('what a page says about its parts', () => {
  test('is said once where all of them fail for one reason', () => {
    expect(told({ 'the numbers': failed('no log'), 'the errors': failed('no log') })).toEqual({
      told: ['Nothing on this page could be read'],
      silent: ['the numbers', 'the errors'],
    })
  })

  test('names those that fail for one reason, and leaves another reason to its part', () => {
    const parts = {
      'the health': ready,
      'the numbers': failed('no log'),
      'the errors': failed('no log'),
      'the table': failed('too long'),
    }
    expect(told(parts)).toEqual({
      told: ['The numbers and the errors could not be read'],
      silent: ['the numbers', 'the errors'],
    })
  })

  test('is nothing where one part fails alone', () => {
    expect(told({ 'the health': ready, 'the errors': failed('no log') })).toEqual({ told: [], silent: [] })
    expect(told({ 'the errors': failed('no log') })).toEqual({ told: [], silent: [] })
  })

  test('waits for the others before the first part speaks, so that nothing is said twice', () => {
    expect(told({ 'the numbers': failed('no log'), 'the errors': waiting })).toEqual({
      told: [],
      silent: ['the numbers'],
    })
    expect(told({ 'the health': ready, 'the numbers': failed('no log'), 'the errors': waiting })).toEqual({
      told: [],
      silent: [],
    })
  })

  test('goes on where the page speaks already and a part comes later', () => {
    const parts = new Map(
      Object.entries({
        'the numbers': failed('no log'),
        'the table': failed('no log'),
        'the errors': waiting,
      }),
    )
    expect(toldOnce(parts).told).toEqual([])
    expect(toldOnce(parts, true).told.map(({ what }) => what)).toEqual(['Nothing on this page could be read'])
  })

  test('asks all of them again', () => {
    const asked: string[] = []
    const part = (name: string) => ({ ...failed('no log'), again: () => void asked.push(name) })
    const { told } = toldOnce(
      new Map([
        ['one', part('one')],
        ['two', part('two')],
      ]),
    )
    for (const { again } of told) again()
    expect(asked).toEqual(['one', 'two'])
  })
})
