import { setTimeout as delay } from 'node:timers/promises'
import WebSocket from 'ws'
import { type Rig, sample, targetOf } from './measure.ts'
import { frameName } from './profile.ts'
import type { Scenario } from './scenarios.ts'
import { startGateway } from './subjects.ts'

/**
 * What a request allocates on the heap of Tollgate's main thread, in bytes, and the functions that allocate most of it, as text.
 * The gateway is one of its own, so that the sampler costs no measured window anything. V8 counts what the collector has freed
 * since, and estimates from one object in 16 KB. Memory outside of the heap, such as a Buffer's, does not count.
 */
export async function allocated(rig: Rig, scenarios: readonly Scenario[]): Promise<string> {
  const subject = await startGateway(rig, {
    nodeArgs: ['--inspect=127.0.0.1:0'],
  })
  const inspector = await openInspector(subject.stderr)
  const texts: string[] = []
  for (const scenario of scenarios) {
    const target = targetOf(subject, scenario)
    // Compiled code allocates less than new code does.
    await sample(rig, scenario, target)
    await inspector.call('HeapProfiler.startSampling', {
      samplingInterval: 16_384,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    })
    const { load } = await sample(rig, scenario, target)
    const { profile } = (await inspector.call('HeapProfiler.stopSampling')) as { profile: HeapProfile }
    texts.push(`${scenario.name}\n${topAllocations(profile.head, load.sent)}`)
  }
  inspector.close()
  await subject.stop()
  return texts.join('\n\n')
}

interface HeapNode {
  callFrame: { functionName: string; url: string; lineNumber: number }
  /** Bytes. */
  selfSize: number
  children: HeapNode[]
}

interface HeapProfile {
  head: HeapNode
}

/** Bytes of one request, and the functions with the largest shares of it. */
export function topAllocations(head: HeapNode, requests: number): string {
  const bytesOf = new Map<string, number>()
  const nodes = [head]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const name = frameName(node.callFrame)
    bytesOf.set(name, (bytesOf.get(name) ?? 0) + node.selfSize)
    nodes.push(...node.children)
  }
  const all = [...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0)
  const top = [...bytesOf].sort(([, a], [, b]) => b - a).slice(0, 12)
  const line = (bytes: number, name: string) => `${(bytes / requests).toFixed(0).padStart(8)}  ${name}`
  return [line(all, 'bytes a request'), ...top.map(([name, bytes]) => line(bytes, name))].join('\n')
}

/** V8's inspector of the process that writes its address to `stderr`. */
async function openInspector(stderr: () => string) {
  const address = async () => {
    for (let tries = 0; tries < 100; tries++) {
      // The process starts itself again with flags: the last address is the one that answers.
      const found = [...stderr().matchAll(/Debugger listening on (ws:\S+)/g)].at(-1)?.[1]
      if (found !== undefined) return found
      await delay(50)
    }
    throw new Error('The gateway printed no address of its inspector.')
  }
  const socket = new WebSocket(await address())
  const waiting = new Map<number, (result: unknown) => void>()
  socket.on('message', (data) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown }
    if (id !== undefined) waiting.get(id)?.(result)
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  let calls = 0
  return {
    call: (method: string, params: object = {}) =>
      new Promise<unknown>((resolve) => {
        const id = ++calls
        waiting.set(id, resolve)
        socket.send(JSON.stringify({ id, method, params }))
      }),
    close: () => socket.close(),
  }
}
