import { nothingObserved } from '../protocols/observe.ts'
import type { Chosen } from '../routing/targets.ts'
import type { Admitted } from '../stages/admit.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { Life } from '../stages/life.ts'
import { type Metered, meter, unknownMetered } from '../stages/meter.ts'
import { timeoutsOf } from '../upstream/timeouts.ts'
import { pricingOf } from './pricing.ts'

/**
 * What a request costs whose client left while nothing of the answer had come, although its upstream may have
 * made all of it. Where money is limited, it is an estimate: the input by the bytes of the body, and all the
 * output that the request allows. With `unseen: hold` the money stays held first, until the upstream can work
 * on it no longer.
 */
export async function meterUnseen(
  { bounds, clock }: Gateway,
  admitted: Admitted,
  { modelCandidates: { model }, target }: Pick<Chosen, 'modelCandidates' | 'target'>,
): Promise<Metered> {
  const { row, life, facts, body } = admitted
  if (row.heldNano === null) return unknownMetered
  if (life.whenClientLeaves?.unseen === 'hold') {
    const { upstreamTotalMs } = timeoutsOf(target.channel, bounds)
    await holdFor(life, (row.sentAt ?? clock.now()) + upstreamTotalMs - clock.now())
  }
  const outputMax = facts.maxOutputTokens ?? model.maxOutputTokens ?? model.contextLength ?? 0
  const estimate = { ...nothingObserved, complete: true, outputTokensEstimate: facts.choices * outputMax }
  return meter(estimate, body.length, pricingOf(admitted, model, target))
}

/**
 * Ends early when this process ends. The end of a drain, of which the client is the cause, does not end it.
 */
function holdFor(life: Life, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    life.running = {
      resume() {},
      abort({ fault }) {
        if (fault === 'client') return
        clearTimeout(timer)
        resolve()
      },
    }
  })
}
