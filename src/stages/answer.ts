import type { Received } from './received.ts'

// Every answer to a client passes here, so that an answer with an Idempotency-Key can be kept for its repeats.

export function beginAnswer(
  { response, life }: Received,
  status: number,
  headers: Record<string, string | number>,
): void {
  life.claim?.begin(status, headers)
  response.writeHead(status, headers)
}

/** False: the client has not yet read all bytes written so far. */
export function writeAnswer({ response, life }: Received, chunk: Uint8Array): boolean {
  life.claim?.write(chunk)
  return response.write(chunk)
}

export function finishAnswer({ response, life }: Received, last?: Uint8Array): void {
  if (last !== undefined) life.claim?.write(last)
  response.end(last)
  life.claim?.finish()
}
