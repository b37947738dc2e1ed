import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type SeenSpan, spansIn } from './otlp.ts'
import { until } from './until.ts'

/** A collector of traces on a real socket. */
export interface SeenCollector {
  /** As OTEL_EXPORTER_OTLP_ENDPOINT has it. */
  url: string
  /** Of all exports that it has taken. */
  spans: SeenSpan[]
  exports: { path: string; headers: IncomingHttpHeaders; spans: number }[]
  /** What it does with each export from now on. `hang`: it never answers. A number: it answers with that status, and takes nothing. */
  behave(how: 'take' | 'hang' | number): void
  /** The trace of a request, when its spans have come: those of all processes, the first to begin first. */
  traceOf(requestId: string, isWhole?: (spans: SeenSpan[]) => boolean): Promise<SeenSpan[]>
  close(): Promise<void>
}

export async function startCollector(): Promise<SeenCollector> {
  const spans: SeenSpan[] = []
  const exports: SeenCollector['exports'] = []
  let how: 'take' | 'hang' | number = 'take'
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const seen = spansIn(Buffer.concat(chunks))
      exports.push({ path: request.url ?? '', headers: request.headers, spans: seen.length })
      if (how === 'hang') return
      if (how === 'take') spans.push(...seen)
      response.writeHead(how === 'take' ? 200 : how, { 'content-type': 'application/x-protobuf' }).end()
    })
    request.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    exports,
    behave(next) {
      how = next
    },
    async traceOf(requestId, isWhole = () => true) {
      return await until(() => {
        const root = spans.find(({ attributes }) => attributes['tollgate.request.id'] === requestId)
        const trace = spans
          .filter(({ traceId }) => traceId === root?.traceId)
          .sort((a, b) => (a.start < b.start ? -1 : 1))
        return root !== undefined && isWhole(trace) ? trace : undefined
      })
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
