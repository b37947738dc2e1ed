import type { Received } from './received.ts'

// Every answer to a client is sent by these functions, so that an answer with an Idempotency-Key can be kept
// for its repeats.

export function beginAnswer(
  { exchange, life }: Received,
  status: number,
  headers: Record<string, string | number>,
): void {
  life.claim?.begin(status, headers)
  exchange.reply.writeHead(status, headers)
}

/** Returns false while the client has not read all bytes written so far. */
export function writeAnswer({ exchange, life }: Received, chunk: Uint8Array): boolean {
  life.claim?.write(chunk)
  return exchange.reply.write(chunk)
}

export function finishAnswer({ exchange, life }: Received, last?: Uint8Array): void {
  const { reply } = exchange
  if (last !== undefined) life.claim?.write(last)
  // Node joins a string with the head before it, so there is one write instead of two. Latin1 leaves each
  // byte unchanged.
  if (Buffer.isBuffer(last) && last.length <= joinedBytesMax) reply.end(last.toString('latin1'), 'latin1')
  else reply.end(last)
  life.claim?.finish()
}

/** Above this length, converting the answer to a string costs more than a second write. */
const joinedBytesMax = 4_096
