export interface Repetition {
  /** From the end of one run to the start of the next, so that runs never overlap. */
  pauseMs: number
  /** The first run begins at once. By default it begins after a pause. */
  atOnce?: boolean
  /** The timer does not keep the process alive. By default it does, until `stop`. */
  unref?: boolean
  /** Is called when a run fails, but not again while runs in a row fail alike, and not after `stop`. */
  onFailure?: (error: unknown) => void
}

/**
 * Run `work` again and again, whether it fails or not. `stop` lets no further run begin, and resolves when
 * the current one has ended; it does not cancel it.
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
