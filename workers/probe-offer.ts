import { type ProbeGateway, probeOffer } from '../src/probes/probe-offer.ts'

/**
 * Runs one probe at a time; the queue calls it with the id of each run. `stop` interrupts the running one,
 * which then runs again.
 */
export function probeRunner(gateway: ProbeGateway) {
  const stopped = new AbortController()
  return {
    async run(id: string): Promise<{ again: number } | undefined> {
      await probeOffer(gateway, id, stopped.signal)
      // This worker after a restart, or another one, runs it again.
      return stopped.signal.aborted ? { again: 0 } : undefined
    },
    stop(): void {
      stopped.abort()
    },
  }
}
