import { measureLoad, type Rig, rate, small, startDeployment, warmUp } from './rig.ts'
import { costCells, costHeads, type Table } from './table.ts'

/** What a request costs in each part, at 1,000 requests a second (200 KB: 100 a second). */
export async function parts(rig: Rig): Promise<Table[]> {
  const rows: string[][] = []
  const one = async (
    name: string,
    options: Parameters<typeof startDeployment>[1],
    task: Task,
    perSecond = 1_000,
  ) => {
    const deployment = await startDeployment(rig, options)
    try {
      await warmUp(rig, deployment, task)
      const measured = await measureLoad(rig, deployment, { ...task, drive: rate(perSecond) })
      rows.push([name, ...costCells(measured)])
    } finally {
      await deployment.stop()
    }
  }
  await one('small chat, money recorded', {}, small)
  await one('small chat, money limited', { limited: true }, small)
  await one('small chat, limits in Redis', { hasRedis: true }, small)
  await one('Messages client, chat upstream', {}, { ...small, protocol: 'anthropic-messages' })
  await one('200 KB of conversation', {}, { ...small, model: 'burst-8', bodyBytes: 200_000 }, 100)

  const streams = await startDeployment(rig)
  try {
    await warmUp(rig, streams)
    const idleMb = streams.residentMb()
    const held = { kind: 'hold', streams: 1000, openMs: 1000, windowMs: 4000 } as const
    const measured = await measureLoad(rig, streams, { ...small, model: 'paced-60x100', drive: held })
    const eventUs = measured.mainUs + measured.othersUs
    return [
      { title: 'A request in each part', heads: ['request', ...costHeads], rows },
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

type Task = Parameters<typeof warmUp>[2] & object
