export interface Repetition {
  /** The pause between the end of one run and the start of the next, so that runs never overlap. */
  pauseMs: number
  /** Whether the first run starts immediately. By default it starts after a pause. */
  atOnce?: boolean
  /** Whether the timer lets the process end. By default it keeps the process alive until `stop`. */
  unref?: boolean
  /**
   * Called when a run fails, but not for consecutive runs that fail in the same way, and not after `stop`.
   */
  onFailure?: (error: unknown) => void
}

/**
 * Runs `work` repeatedly, whether or not it fails. `stop` prevents further runs and resolves when the current
 * one has ended, without cancelling it.
 */
export function repeatedly(
  work: () => Promise<unknown>,
  { pauseMs, atOnce = false, unref = false, onFailure }: Repetition,
): { stop(): Promise<void> } {
  let running = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let complaint: string | undefined
  const run = async () => {
    try {
      await work()
      complaint = undefined
    } catch (error) {
      if (!stopped && String(error) !== complaint) onFailure?.(error)
      complaint = String(error)
    }
    if (!stopped) plan()
  }
  const begin = () => {
    running = run()
  }
  const plan = () => {
    timer = setTimeout(begin, pauseMs)
    if (unref) timer.unref()
  }
  if (atOnce) begin()
  else plan()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
