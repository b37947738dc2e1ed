import { expect } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Usage } from '../../src/canonical/usage.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

const context = { upstreamModel: 'm' }

/** The usage of a whole answer: of its translation, and of its watcher if clients can speak the format. */
export function usagesOfWhole(protocol: ProtocolName, body: object): (Usage | undefined)[] {
  const upstream = upstreamSide(protocol)
  const json = JSON.parse(JSON.stringify(body))
  const decoded = finished(upstream.decodeResponse(json, context))
  if (upstream.native === undefined) return [decoded]
  return [decoded, upstream.native.watchResponse(Buffer.from(JSON.stringify(body))).usage]
}

/** The same of a stream of events. */
export function usagesOfStream(protocol: ProtocolName, events: object[]): (Usage | undefined)[] {
  const upstream = upstreamSide(protocol)
  const decoder = upstream.decodeStream(context)
  const decoded = finished([
    ...events.flatMap((event) => decoder.push(JSON.stringify(event))),
    ...decoder.end(),
  ])
  if (upstream.native === undefined) return [decoded]
  const watcher = upstream.native.watchStream({ dropUsageFrame: false, frameBytesMax: 100_000 })
  for (const event of events) watcher.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
  watcher.end()
  return [decoded, watcher.observe().usage]
}

function finished(events: ChatEvent[]): Usage | undefined {
  const finish = events.find((event) => event.type === 'finish')
  expect(finish, JSON.stringify(events)).toBeDefined()
  return finish?.usage
}

export function expectAll(usages: (Usage | undefined)[], expected: Usage): void {
  expect(usages.length).toBeGreaterThan(0)
  for (const usage of usages) expect(usage).toStrictEqual(expected)
}
