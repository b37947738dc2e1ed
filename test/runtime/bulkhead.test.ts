import { expect, test } from 'vitest'
import { Bulkhead, type BulkheadEntry, type BulkheadOptions, inTurn } from '../../src/runtime/bulkhead.ts'
import { seeded } from '../support/random.ts'

/** An entry whose first letter is its owner; `-` has none. */
interface Named extends BulkheadEntry {
  name: string
}

function bulkhead(options: BulkheadOptions) {
  const places = new Bulkhead<Named>(options)
  const entries = new Map<string, Named>()
  const begun: string[] = []
  const enter = (name: string) => {
    const owner = name.startsWith('-') ? undefined : name.slice(0, 1)
    places.requireRoom(owner)
    const entry = { name, owner, begin: () => void begun.push(name) }
    entries.set(name, entry)
    places.add(entry)
  }
  const named = (name: string): Named => entries.get(name) ?? { name, begin() {} }
  return { places, begun, enter, end: (name: string) => places.end(named(name)), named }
}

test.each<{ orders: string; options: BulkheadOptions; comes: string[]; begins: string[] }>([
  {
    orders: 'owners take turns, and each has its own in the order of arrival',
    options: { running: 1 },
    comes: ['a1', 'a2', 'a3', 'b1', '-1', 'b2'],
    begins: ['a1', 'a2', 'b1', '-1', 'a3', 'b2'],
  },
  {
    orders: 'first come is first served where the order of arrival counts',
    options: { running: 1, order: 'arrival' },
    comes: ['a1', 'a2', 'b1', '-1', 'a3', 'b2'],
    begins: ['a1', 'a2', 'b1', '-1', 'a3', 'b2'],
  },
  {
    orders: 'an owner at its maximum is passed over, and an entry without owner is not bounded',
    options: { running: 3, perOwner: { running: 1 }, order: 'arrival' },
    comes: ['a1', 'a2', 'a3', '-1', '-2', 'b1', 'b2'],
    // a1, -1 and -2 run. The end of a1 lets a2 in, that of -1 lets b1 in, and that of -2 no one.
    begins: ['a1', '-1', '-2', 'a2', 'b1', 'a3', 'b2'],
  },
  {
    orders: 'the same in turns',
    options: { running: 2, perOwner: { running: 1 } },
    comes: ['a1', 'a2', 'b1', 'b2', 'c1'],
    begins: ['a1', 'b1', 'a2', 'b2', 'c1'],
  },
])('$orders', ({ options, comes, begins }) => {
  const { places, begun, enter, end } = bulkhead(options)
  for (const name of comes) enter(name)
  // Each ends in the order in which it began.
  for (let ended = 0; ended < begun.length; ended++) {
    expect(places.running.size).toBeLessThanOrEqual(options.running)
    expect(end(begun[ended] ?? '')).toBe(true)
  }
  expect(begun).toEqual(begins)
  expect([places.running.size, places.waiting]).toEqual([0, 0])
})

test.each<{ what: string; options: BulkheadOptions; comes: string[]; refused: Record<string, string> }>([
  { what: 'no bound on those that wait', options: { running: 1 }, comes: ['a1', 'a2', 'a3'], refused: {} },
  {
    what: 'as many wait as may',
    options: { running: 1, waiting: 1, perOwner: { waiting: 1 } },
    comes: ['a1', 'a2'],
    refused: { a: 'all owner', b: 'all', '-': 'all' },
  },
  {
    what: 'as many of one owner wait as may',
    options: { running: 1, waiting: 2, perOwner: { waiting: 1 } },
    comes: ['-1', 'a1'],
    refused: { a: 'owner' },
  },
  {
    what: 'no one may wait, and no place is free',
    options: { running: 2, waiting: 0, perOwner: { running: 1 } },
    comes: ['a1', 'b1'],
    refused: { a: 'all', b: 'all', '-': 'all' },
  },
  {
    what: 'no one may wait, and one owner is at its maximum',
    options: { running: 2, waiting: 0, perOwner: { running: 1 } },
    comes: ['a1'],
    refused: { a: '' },
  },
])('$what: who is refused, and why', ({ options, comes, refused }) => {
  const { enter, places } = bulkhead({
    ...options,
    refuse: ({ all, owner }) => new Error([all && 'all', owner && 'owner'].filter(Boolean).join(' ')),
  })
  for (const name of comes) enter(name)
  const why = ['a', 'b', '-'].flatMap((owner) => {
    try {
      places.requireRoom(owner === '-' ? undefined : owner)
      return []
    } catch (error) {
      return [[owner, error instanceof Error ? error.message : error]]
    }
  })
  expect(Object.fromEntries(why)).toEqual(refused)
})

test('an entry that leaves while it waits frees its room, and one that has left or runs frees none', () => {
  const { places, begun, enter, end, named } = bulkhead({ running: 1, waiting: 2, perOwner: { waiting: 1 } })
  for (const name of ['-1', 'a1', 'b1']) enter(name)
  expect(() => enter('c1')).toThrow('too many entries are waiting')
  expect([places.withdraw(named('a1')), places.withdraw(named('a1')), places.withdraw(named('-1'))]).toEqual([
    true,
    false,
    false,
  ])
  expect(end('b1')).toBe(false)
  enter('a2')
  expect(places.withdrawAll().map(({ name }) => name)).toEqual(['b1', 'a2'])
  enter('a3')
  expect([end('-1'), end('-1')]).toEqual([true, false])
  expect(begun).toEqual(['-1', 'a3'])
})

test('in any sequence no bound is passed, no place is idle, and each entry begins or leaves once', () => {
  const random = seeded(36)
  for (let round = 0; round < 60; round++) {
    const order = random.pick(['turns', 'arrival'] as const)
    const perOwner = { running: 1 + random.upTo(2), waiting: random.upTo(3) }
    const options = { running: 1 + random.upTo(3), waiting: random.upTo(6), perOwner, order }
    const { places, begun, enter, end, named } = bulkhead(options)
    /** What should hold: those that run, those that wait, in the order of arrival, and those that left. */
    const runs: string[] = []
    const waits: string[] = []
    const left: string[] = []
    const wrong: string[] = []
    let came = 0
    let seen = 0
    const check = (holds: boolean, what: string) => void (holds || wrong.push(what))
    const drop = (names: string[], name: string) => names.splice(names.indexOf(name), 1)
    const ofOwner = (names: string[], [owner]: string) => names.filter((name) => name[0] === owner).length
    const mayRun = (name: string) =>
      runs.length < options.running && (name[0] === '-' || ofOwner(runs, name) < perOwner.running)
    const steps = {
      enter: () => {
        const name = `${random.pick(['a', 'b', 'c', '-'])}${came}`
        const isOwnFull = name[0] !== '-' && ofOwner(waits, name) >= perOwner.waiting
        const isRefused = !mayRun(name) && (isOwnFull || waits.length >= options.waiting)
        try {
          enter(name)
          came++
          waits.push(name)
          check(!isRefused, `${name} was let in`)
        } catch {
          check(isRefused, `${name} was refused`)
        }
      },
      end: () => {
        if (runs.length === 0) return
        const name = random.pick(runs)
        drop(runs, name)
        check(end(name), `${name} did not end`)
      },
      leave: () => {
        if (waits.length === 0) return
        const name = random.pick(waits)
        left.push(...drop(waits, name))
        check(places.withdraw(named(name)), `${name} did not leave`)
      },
    }
    const settle = () => {
      for (; seen < begun.length; seen++) {
        const name = begun[seen] ?? ''
        const overtaken = waits.slice(0, waits.indexOf(name))
        check(mayRun(name), `${name} began beyond a bound`)
        check(ofOwner(overtaken, name) === 0, `${name} overtook its own`)
        check(order === 'turns' || !overtaken.some(mayRun), `${name} overtook others`)
        runs.push(...drop(waits, name))
      }
      check(places.waiting === waits.length, 'another number waits')
      check(places.running.size === runs.length, 'another number runs')
      check(!waits.some(mayRun), 'a place is idle')
    }
    for (let step = 0; step < 100; step++) {
      steps[random.pick(['enter', 'enter', 'end', 'leave'] as const)]()
      settle()
    }
    for (; runs.length > 0; settle()) steps.end()
    expect(wrong).toEqual([])
    expect(waits).toEqual([])
    expect([begun.length + left.length, new Set([...begun, ...left]).size]).toEqual([came, came])
  }
})

test('in turns, no owner waits for more than one of each other owner', () => {
  const random = seeded(37)
  for (let round = 0; round < 50; round++) {
    const { begun, enter, end } = bulkhead({ running: 1 })
    const owners = ['a', 'b', 'c', 'd']
    enter('-')
    const comes = Array.from({ length: 30 }, (_, at) => `${random.pick(owners)}${at}`)
    for (const name of comes) enter(name)
    for (let ended = 0; ended < begun.length; ended++) end(begun[ended] ?? '')
    expect([...begun].sort()).toEqual(['-', ...comes].sort())
    owners.forEach((owner) => {
      const turns = begun.flatMap((name, at) => (name.startsWith(owner) ? [at] : []))
      turns.slice(1).forEach((turn, at) => {
        const between = begun.slice((turns[at] ?? 0) + 1, turn).map((name) => name.slice(0, 1))
        expect(new Set(between).size, `${begun}`).toBe(between.length)
      })
    })
  }
})

test('work runs in its turn, and its place is free when it has ended, well or not', async () => {
  const places = new Bulkhead({ running: 1 })
  const failed = inTurn(places, () => Promise.reject(new Error('no')))
  const other = inTurn(places, async () => 'ran')
  expect([places.running.size, places.waiting]).toEqual([1, 1])
  await expect(failed).rejects.toThrow('no')
  expect(await other).toBe('ran')
  expect([places.running.size, places.waiting]).toEqual([0, 0])
})

test('work whose caller leaves before its turn never begins; what runs goes on', async () => {
  const places = new Bulkhead({ running: 1 })
  const first = Promise.withResolvers<string>()
  const caller = new AbortController()
  const { signal } = caller
  const running = inTurn(places, () => first.promise, { signal })
  const waiting = inTurn(places, () => Promise.reject(new Error('it began')), { signal })
  caller.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  await expect(inTurn(places, async () => 'ran', { signal })).rejects.toThrow('left')
  expect([places.running.size, places.waiting]).toEqual([1, 0])
  first.resolve('ran')
  expect(await running).toBe('ran')
  expect(places.running.size).toBe(0)
})

test('work beyond the bounds is refused with the error of the caller', async () => {
  const places = new Bulkhead({ running: 1, waiting: 0, refuse: () => new Error('full') })
  const first = Promise.withResolvers<void>()
  const running = inTurn(places, () => first.promise, { owner: 'a' })
  await expect(inTurn(places, async () => {}, { owner: 'b' })).rejects.toThrow('full')
  first.resolve()
  await running
})
