import {
  type Measurable,
  measureLoad,
  type Rig,
  rate,
  small,
  startBareProxy,
  startDeployment,
  warmUp,
  windowMs,
} from './rig.ts'
import { costCells, costHeads, type Table } from './table.ts'

/**
 * What a request costs in each part: at 1,000 a second (200 KB: 100 a second), and with 64 in flight, which is all that one
 * process bears beside the driver. A busy process does for many requests at once what an idle one does for each: it wakes up,
 * writes its journal, commits.
 */
export async function parts(rig: Rig): Promise<Table[]> {
  const rows: string[][] = []
  const one = async (
    name: string,
    subject: Measurable & { stop(): Promise<void> },
    task: Task,
    perSecond = 1_000,
  ) => {
    try {
      await warmUp(rig, subject, task)
      for (const drive of [rate(perSecond), full]) {
        const measured = await measureLoad(rig, subject, { ...task, drive })
        const reached = (measured.load.sent * 1_000) / windowMs
        rows.push([name, count(drive === full ? reached : perSecond), ...costCells(measured)])
      }
    } finally {
      await subject.stop()
    }
  }
  await one('a bare proxy', await startBareProxy(rig), small)
  await one('small chat, money recorded', await startDeployment(rig), small)
  await one('small chat, money limited', await startDeployment(rig, { limited: true }), small)
  await one('small chat, limits in Redis', await startDeployment(rig, { hasRedis: true }), small)
  await one('Messages client, chat upstream', await startDeployment(rig), messages)
  await one('200 KB of conversation', await startDeployment(rig), large, 100)

  const streams = await startDeployment(rig)
  try {
    await warmUp(rig, streams)
    const idleMb = streams.residentMb()
    const held = { kind: 'hold', streams: 1000, openMs: 1000, windowMs: 4000 } as const
    const measured = await measureLoad(rig, streams, { ...small, model: 'paced-60x100', drive: held })
    const eventUs = measured.mainUs + measured.othersUs
    return [
      { title: 'A request in each part', heads: ['request', 'a second', ...costHeads], rows },
      {
        title: 'Streams: 1,000 open, 10 events a second each',
        heads: ['gateway us an event', 'MB before', 'MB, most'],
        rows: [[eventUs.toFixed(0), idleMb.toFixed(0), streams.residentMb().toFixed(0)]],
      },
    ]
  } finally {
    await streams.stop()
  }
}

const messages = { ...small, protocol: 'anthropic-messages' } as const
const large = { ...small, model: 'burst-8', bodyBytes: 200_000 } as const
const full = { kind: 'closed', inFlight: 64, durationMs: windowMs } as const

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

type Task = Parameters<typeof warmUp>[2] & object
