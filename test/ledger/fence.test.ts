import { randomUUIDv7 } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { firstIdAt } from '../../src/db/first-id.ts'
import type { Disk } from '../../src/runtime/disk.ts'
import { Fence } from '../../src/shipping/fence.ts'
import { Ledger } from '../../src/shipping/ledger.ts'
import type { FromShipper, ToShipper } from '../../src/shipping/shipper-messages.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { manualClock } from '../support/manual-clock.ts'
import { aClose, anOpen } from '../support/records.ts'
import { until } from '../support/until.ts'

/** What a process does that was frozen: until Postgres has answered, its older requests send nothing. */

const pauseMs = 20_000
const startMs = 1_800_000_000_000

function aFence() {
  const [wall, steady] = [manualClock(startMs), manualClock()]
  const asked: number[] = []
  const unanswered: string[] = []
  const fence = new Fence({
    pauseMs,
    waitMs: 60_000,
    clock: { now: wall.now, elapsed: steady.elapsed },
    ask: (token) => void asked.push(token),
    onUnanswered: (since) => void unanswered.push(since),
  })
  onTestFinished(() => fence.stop())
  return { wall, steady, asked, unanswered, fence }
}

test.each(['wall', 'steady'] as const)('a jump of the %s clock alone puts it in doubt', (which) => {
  const { asked, fence, ...clocks } = aFence()
  clocks[which].pass(pauseMs - 1)
  expect(fence.doubt()).toBeUndefined()
  clocks[which].pass(pauseMs - 1)
  expect(fence.doubt()).toBeUndefined()
  clocks[which].pass(pauseMs)
  expect(fence.doubt()).toBeInstanceOf(Promise)
  expect(fence.doubt()).toBeInstanceOf(Promise)
  expect(asked).toEqual([1])
})

test('a request that began after the pause is in no doubt, and none is once Postgres has answered', async () => {
  const { wall, asked, fence } = aFence()
  wall.pass(pauseMs)
  const [before, after] = [firstIdAt(startMs), firstIdAt(startMs + pauseMs + 3)]
  const doubt = fence.doubtOf(before)
  expect(doubt).toBeInstanceOf(Promise)
  expect(fence.doubtOf(after)).toBeUndefined()
  fence.confirm(asked[0] ?? 0)
  await doubt
  expect(fence.doubtOf(before)).toBeUndefined()
})

test('a process that stops in doubt sends nothing for the requests that it had before the pause', async () => {
  const { wall, unanswered, fence } = aFence()
  expect(fence.doubt()).toBeUndefined()
  wall.pass(pauseMs)
  const doubt = fence.doubtOf(firstIdAt(startMs))
  fence.stop()
  await doubt
  expect(unanswered).toHaveLength(1)
  expect(unanswered[0]).toBeTypeOf('string')
  expect(firstIdAt(startMs) < String(unanswered[0])).toBe(true)
})

test('an answer to the question of an earlier pause ends no doubt', () => {
  const { steady, asked, fence } = aFence()
  for (let pause = 0; pause < 2; pause++) {
    steady.pass(pauseMs)
    void fence.doubt()
  }
  expect(asked).toEqual([1, 2])
  fence.confirm(1)
  expect(fence.doubt()).toBeInstanceOf(Promise)
  fence.confirm(2)
  expect(fence.doubt()).toBeUndefined()
})

/** A ledger with JOURNAL_SYNC=disk whose shipper and syncs are those of the test. */
function aLedger() {
  const home = fs.mkdtempSync(join(tmpdir(), 'tollgate-fence-'))
  const held: (() => void)[] = []
  const posted: ToShipper[] = []
  let tell: (message: FromShipper) => void = () => {}
  const onExit: (() => void)[] = []
  const fdatasync: Disk['fdatasync'] = (fd, done) => void held.push(() => fs.fdatasync(fd, done))
  const clock = manualClock(Date.now())
  const ledger = Ledger.start({
    dataDir: home,
    databaseUrl: '',
    instanceId: randomUUIDv7(),
    durability: 'journal',
    sync: 'disk',
    bounds: readConfig({ INSTANCE_DEAD_MS: String(pauseMs) }).bounds,
    clock,
    log: silentLog,
    onCut: () => {},
    disk: { ...fs, fdatasync },
    startThread: () => ({
      postMessage: (message) => {
        posted.push(message)
        if (message.type === 'end') for (const exit of onExit) exit()
      },
      on: (event: string, listener: (value: never) => void) => {
        if (event === 'message') tell = listener as typeof tell
        if (event === 'exit') onExit.push(listener as () => void)
      },
      unref: () => {},
      terminate: async () => {},
    }),
  })
  /** Lets the journal sync until `promise` is settled. */
  const syncUntil = async (promise: Promise<unknown>) => {
    const settled = promise.then(
      () => true,
      () => true,
    )
    while (!(await Promise.race([settled, nextTurn(false)]))) held.shift()?.()
  }
  onTestFinished(async () => {
    await syncUntil(ledger.end(0))
    fs.rmSync(home, { recursive: true, force: true })
  })
  return { ledger, clock, held, posted, tell: (message: FromShipper) => tell(message), syncUntil }
}

test.each([
  ['is confirmed', 'live'],
  ['is refused', 'adopted'],
] as const)(
  'an end that was on its way to the disk during the pause %s if the process is %s',
  async (_, state) => {
    const { ledger, clock, held, posted, tell, syncUntil } = aLedger()
    const open = anOpen({ id: firstIdAt(clock.now()) })
    await syncUntil(ledger.open(open))
    const closed = ledger.close(open, aClose())
    await until(() => held.length > 0)
    clock.pass(pauseMs)
    held.shift()?.()
    const check = await until(() => posted.find((message) => message.type === 'check'))
    if (state === 'live') tell({ type: 'live', token: check.token })
    else {
      tell({ type: 'fenced', instanceId: randomUUIDv7() })
      tell({ type: 'decided', orphaned: [] })
    }
    await (state === 'live' ? closed : expect(closed).rejects.toMatchObject({ reason: 'process_stalled' }))
  },
)
