import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isRecord, type Json } from '../../src/canonical/json.ts'

/** What a gateway does wrong with every request and answer. */
export interface Fault {
  /** The body that goes upstream instead of the client's. */
  request?(body: Json): Json
  /** The answer instead of the upstream's. `cut`: the connection breaks after this text. `hang`: it never ends. */
  answer?(answer: GivenAnswer, request: { path: string; body: Json }): GivenAnswer
}

export interface GivenAnswer {
  status: number
  type: string
  text: string
  headers?: Record<string, string>
  ending?: 'cut' | 'hang'
}

/** A gateway in front of a good upstream that has one fault. */
export async function startFaultyGateway(
  upstream: string,
  fault: Fault,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    void pass(upstream, fault, request).then(({ status, type, text, headers, ending }) => {
      response.writeHead(status, { 'content-type': type, ...headers })
      if (ending === undefined) response.end(text)
      else response.write(text, () => (ending === 'cut' ? response.destroy() : undefined))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function pass(upstream: string, fault: Fault, request: IncomingMessage): Promise<GivenAnswer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const sent: unknown = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
  const body = isRecord(sent) ? sent : {}
  const { method = 'GET', url = '' } = request
  const answer = await fetch(`${upstream}${url}`, {
    method,
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: method === 'GET' ? null : JSON.stringify(fault.request?.(body) ?? body),
  })
  const given = {
    status: answer.status,
    type: answer.headers.get('content-type') ?? '',
    text: await answer.text(),
  }
  return fault.answer?.(given, { path: url, body }) ?? given
}
