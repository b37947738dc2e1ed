import { expect, test, vi } from 'vitest'
import type { ShipperConnection } from '../../src/shipping/shipper-connection.ts'
import type { ShipperIdentity } from '../../src/shipping/shipper-identity.ts'
import { type Mode, Modes, Sleep } from '../../src/shipping/shipper-modes.ts'
import type { ShipperSession } from '../../src/shipping/shipper-session.ts'
import type { Succession } from '../../src/shipping/succession.ts'

/** The table of the shipper's modes. test/ledger/shipper-by-chance.test.ts runs them against Postgres. */

type Name = Mode['name']

/** What may follow each mode, and which mode leads to it on the shortest way. */
const table: Record<Name, { from: Name | undefined; to: readonly Name[] }> = {
  connecting: { from: undefined, to: ['succeeding', 'joining', 'backing off', 'closed'] },
  succeeding: { from: 'connecting', to: ['joining', 'backing off', 'closed'] },
  joining: { from: 'connecting', to: ['shipping', 'draining', 'connecting', 'backing off', 'closed'] },
  shipping: {
    from: 'joining',
    to: ['shipping', 'idle', 'draining', 'connecting', 'backing off', 'closed'],
  },
  idle: { from: 'shipping', to: ['shipping', 'draining', 'closed'] },
  draining: { from: 'joining', to: ['connecting', 'backing off', 'closed'] },
  'backing off': { from: 'connecting', to: ['connecting', 'closed'] },
  closed: { from: 'connecting', to: [] },
}
const names = Object.keys(table) as Name[]
const pairs = names.flatMap((from) => names.map((to) => ({ from, to, isLegal: table[from].to.includes(to) })))
const isConnected = (name: Name) => name !== 'backing off' && name !== 'closed'

/** Makes modes that share one connection until it is lost, as the shipper does. */
function aBed() {
  const closed: ShipperConnection[] = []
  const aConnection = (): ShipperConnection => {
    const connection = {
      backend: undefined,
      close: () => void closed.push(connection),
    } as unknown as ShipperConnection
    return connection
  }
  let connection = aConnection()
  const sleeps: Sleep[] = []
  const aSleep = () => {
    const sleep = new Sleep(60_000)
    sleeps.push(sleep)
    return sleep
  }
  const make = (name: Name): Mode => {
    if (name === 'connecting') connection = aConnection()
    const identity = {} as ShipperIdentity
    const succession = {} as Succession
    const session = { identity, connection } as ShipperSession
    const modes: Record<Name, () => Mode> = {
      connecting: () => ({ name: 'connecting', identity, connection, succession }),
      succeeding: () => ({ name: 'succeeding', identity, connection, succession }),
      joining: () => ({ name: 'joining', identity, connection }),
      shipping: () => ({ name: 'shipping', session }),
      idle: () => ({ name: 'idle', session, sleep: aSleep() }),
      draining: () => ({ name: 'draining', session, endsBy: 0 }),
      'backing off': () => ({ name: 'backing off', identity, lost: undefined, succession, sleep: aSleep() }),
      closed: () => ({ name: 'closed' }),
    }
    return modes[name]()
  }
  const onClosed = vi.fn()
  const first = make('connecting')
  if (first.name !== 'connecting') throw new Error('unreachable')
  const modes = new Modes(first, onClosed)
  const reach = (name: Name) => {
    const { from } = table[name]
    if (from === undefined) return
    reach(from)
    modes.enter(make(name))
  }
  return { modes, make, reach, closed, sleeps, onClosed, current: () => connection }
}

async function isOver(sleep: Sleep): Promise<boolean> {
  return Promise.race([sleep.over.then(() => true), Promise.resolve().then(() => false)])
}

test.each(pairs.filter(({ isLegal }) => isLegal))('$from can become $to', async ({ from, to }) => {
  const { modes, make, reach, closed, sleeps, onClosed, current } = aBed()
  reach(from)
  const closedBefore = closed.length
  const held = current()
  const next = make(to)
  modes.enter(next)
  expect(modes.mode).toBe(next)
  const isHeld = isConnected(from) && isConnected(to) && to !== 'connecting'
  expect(closed.slice(closedBefore)).toEqual(isConnected(from) && !isHeld ? [held] : [])
  expect(onClosed).toHaveBeenCalledTimes(to === 'closed' ? 1 : 0)
  const [own, ...former] = sleeps.toReversed()
  const hasSleep = to === 'idle' || to === 'backing off'
  for (const sleep of hasSleep ? former : sleeps) expect(await isOver(sleep)).toBe(true)
  if (!hasSleep || own === undefined) return
  expect(await isOver(own)).toBe(false)
  modes.wake()
  expect(await isOver(own)).toBe(true)
})

test.each(pairs.filter(({ isLegal }) => !isLegal))('$from cannot become $to', async ({ from, to }) => {
  const { modes, make, reach, closed, sleeps, onClosed } = aBed()
  reach(from)
  const before = modes.mode
  const [closedBefore, calledBefore] = [closed.length, onClosed.mock.calls.length]
  const held = 'sleep' in before ? before.sleep : undefined
  expect(() => modes.enter(make(to))).toThrow(`a shipper that is ${from} cannot be ${to} next`)
  expect(modes.mode).toBe(before)
  expect(closed).toHaveLength(closedBefore)
  expect(onClosed).toHaveBeenCalledTimes(calledBefore)
  if (held !== undefined) expect(await isOver(held)).toBe(false)
  for (const sleep of sleeps) sleep.end()
})
