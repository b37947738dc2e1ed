import type { Received } from './received.ts'

// Every answer to a client passes here, so that an answer with an Idempotency-Key can be kept for its
// repeats.

export function beginAnswer(
  { exchange, life }: Received,
  status: number,
  headers: Record<string, string | number>,
): void {
  life.claim?.begin(status, headers)
  exchange.reply.writeHead(status, headers)
}

/** False: the client has not yet read all bytes written so far. */
export function writeAnswer({ exchange, life }: Received, chunk: Uint8Array): boolean {
  life.claim?.write(chunk)
  return exchange.reply.write(chunk)
}

export function finishAnswer({ exchange, life }: Received, last?: Uint8Array): void {
  const { reply } = exchange
  if (last !== undefined) life.claim?.write(last)
  // Node joins a text with the head before it: one piece to write instead of two. As latin1, each byte stays
  // as it is.
  if (Buffer.isBuffer(last) && last.length <= joinedBytesMax) reply.end(last.toString('latin1'), 'latin1')
  else reply.end(last)
  life.claim?.finish()
}

/** A longer answer costs more to turn into a text than a second piece to write. */
const joinedBytesMax = 4_096
