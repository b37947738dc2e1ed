import type { ExchangeReply } from './exchange.ts'

/**
 * Closes the connection when the client has read nothing for `stallMs`. Call this when bytes begin to queue
 * for the client. Node's socket timer restarts with every byte, so the real limit lies between one and two
 * times `stallMs`.
 */
export function cutWhenStalled(reply: ExchangeReply, stallMs: number): void {
  if (reply.listenerCount('timeout') > 0) return
  reply.setTimeout(stallMs, () => {
    // Without bytes to read, the client is not stalled: the upstream may be taking longer to answer.
    if (isWaitedFor(reply)) reply.destroy()
  })
}

/** True while bytes of the answer are queued for the client. */
export function isWaitedFor({ socket }: Pick<ExchangeReply, 'socket'>): boolean {
  return socket !== null && socket.writableLength > 0
}
