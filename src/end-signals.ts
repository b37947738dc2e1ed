/**
 * One Ctrl-C arrives up to three times, within milliseconds: the terminal signals all processes of its group, and npm and
 * `runtime.cjs` each send on what they get. A signal counts as a second one only after this time.
 */
const sameSignalMs = 1_000

/** Call `first` at the first SIGTERM or SIGINT, and `second` at each that an operator sends after it. */
export function onEndSignal(first: (signal: NodeJS.Signals) => void, second: () => void): void {
  let firstAt: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (firstAt !== undefined) {
        if (performance.now() - firstAt >= sameSignalMs) second()
        return
      }
      firstAt = performance.now()
      first(signal)
    })
  }
}

/** Call `reload` at each SIGHUP. Node ends a process that does not listen for it. */
export function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload)
}
