import type { ExchangeReply } from './exchange.ts'

/**
 * Close the connection when the client has read nothing for `stallMs`. Call this when bytes begin to wait for
 * the client. Node's socket timer restarts with every byte, so the real limit lies between one and two times
 * `stallMs`.
 */
export function cutWhenStalled(reply: ExchangeReply, stallMs: number): void {
  if (reply.listenerCount('timeout') > 0) return
  reply.setTimeout(stallMs, () => {
    // Without bytes to read the client is not stalled: the upstream may need longer for its answer.
    if (isWaitedFor(reply)) reply.destroy()
  })
}

/** True while bytes of the answer wait for the client to read them. */
export function isWaitedFor({ socket }: Pick<ExchangeReply, 'socket'>): boolean {
  return socket !== null && socket.writableLength > 0
}
