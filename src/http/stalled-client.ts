import type { ServerResponse } from 'node:http'

/**
 * Cut a client off that takes nothing of what waits for it for `stallMs`, or up to twice as long. Call it when something
 * begins to wait: from then on Node's own timer of the socket looks on, which whatever moves there winds up again.
 */
export function cutWhenStalled(response: ServerResponse, stallMs: number): void {
  if (response.listenerCount('timeout') > 0) return
  response.setTimeout(stallMs, () => {
    // Silence alone is no stall: the upstream may think for longer.
    if (isWaitedFor(response)) response.destroy()
  })
}

/** Whether the client has yet to take something of its answer. */
export function isWaitedFor({ socket }: ServerResponse): boolean {
  return socket !== null && socket.writableLength > 0
}
