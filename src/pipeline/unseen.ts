import { nothingObserved } from '../protocols/observe.ts'
import type { Chosen } from '../routing/targets.ts'
import { timeoutsOf } from '../upstream/timeouts.ts'
import type { Admitted } from './admit.ts'
import type { Gateway } from './gateway.ts'
import type { Life } from './life.ts'
import { type Metered, meter, unknownMetered } from './meter.ts'
import { pricingOf } from './pricing.ts'

/**
 * The cost of a request whose client left before any of the answer arrived, although its upstream may have
 * generated all of it. If money is limited, this is an estimate: input from the size of the body, and all the
 * output that the request allows. With `unseen: hold`, the money first stays held until the upstream can no
 * longer be working on the request.
 */
export async function meterUnseen(
  { bounds, clock }: Gateway,
  admitted: Admitted,
  called: Pick<Chosen, 'modelCandidates' | 'target'>,
): Promise<Metered> {
  const { row, life } = admitted
  if (row.heldNano === null) return unknownMetered
  if (life.whenClientLeaves?.unseen === 'hold') {
    const { upstreamTotalMs } = timeoutsOf(called.target.channel, bounds)
    await holdFor(life, (row.sentAt ?? clock.now()) + upstreamTotalMs - clock.now())
  }
  return meterMost(admitted, called)
}

/** The cost of an answer with as many tokens as the request allows. */
export function meterMost(
  admitted: Admitted,
  { modelCandidates: { model }, target }: Pick<Chosen, 'modelCandidates' | 'target'>,
): Metered {
  const { facts, body } = admitted
  const outputMax = facts.maxOutputTokens ?? model.maxOutputTokens ?? model.contextLength ?? 0
  const estimate = { ...nothingObserved, complete: true, outputTokensEstimate: facts.choices * outputMax }
  return meter(estimate, body.length, { ...pricingOf(admitted, model, target), isMost: true })
}

/**
 * Waits for `ms`, or until this process ends. An abort caused by the client at the end of a drain does not
 * end the wait.
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
