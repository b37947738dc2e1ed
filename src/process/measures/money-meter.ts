import type { Reservations } from '../../money/reservations.ts'
import { declared } from '../../telemetry/metrics/declarations.ts'
import type { Metrics } from '../../telemetry/metrics/store.ts'

export type MeasuredReservations = Pick<Reservations, 'hold' | 'ended'>

/** Wraps reservations and counts them. */
export function measuredReservations(
  metrics: Metrics,
  reservations: MeasuredReservations,
): MeasuredReservations {
  const verdicts = metrics.cells(declared.holds)
  const held = metrics.cells(declared.heldUsd).at()
  const waits = metrics.distributions(declared.holdSeconds).at()
  return {
    async hold(request) {
      const begunAt = performance.now()
      try {
        const verdict = await reservations.hold(request)
        verdicts.at(verdict.kind).value += 1
        if (verdict.kind === 'granted') held.value += Number(request.amountNano)
        return verdict
      } catch (error) {
        verdicts.at('unavailable').value += 1
        throw error
      } finally {
        waits.observe((performance.now() - begunAt) / 1_000)
      }
    },
    ended: () => reservations.ended(),
  }
}
