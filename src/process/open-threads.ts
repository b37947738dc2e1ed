import { availableParallelism } from 'node:os'
import { BodyThreads } from '../bodies/body-threads.ts'
import type { Config } from '../config/config.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import type { Log } from '../telemetry/log.ts'

/**
 * The maximum memory that a translation uses per byte of the body, and per key and value in it: two bytes per
 * character for the text, its parts and the new text, which grows by doubling. A thread must never reach its
 * limit inside JSON.parse or JSON.stringify, because V8 would then end the whole process.
 */
const heapOfByte = 24
const heapOfValue = 1000

interface BodyThreadsNeeds {
  bounds: Config['bounds']
  keeper: SecretKeeper
  log: Log
}

export function startBodyThreads({ bounds, keeper, log }: BodyThreadsNeeds): BodyThreads {
  const { jsonDepthMax, jsonValuesMax } = bounds
  return new BodyThreads({
    threads: bounds.bodyThreads === 0 ? Math.max(1, availableParallelism() - 1) : bounds.bodyThreads,
    waitingMax: bounds.bodyThreadWaitingMax,
    heapBytesMax: heapOfByte * bounds.bodyBytesMax + heapOfValue * jsonValuesMax,
    data: {
      envelopeKeys: envelopeKeysOf(keeper),
      bounds: { jsonDepthMax, jsonValuesMax },
      redaction: {
        key: keeper.redactionKey,
        bytesMax: bounds.captureBytesMax,
        stringBytesMax: bounds.captureStringBytesMax,
      },
    },
    log,
  })
}

/** Returns the envelope keys. The first one signs. */
export function envelopeKeysOf(keeper: SecretKeeper): Buffer[] {
  const { current, former } = keeper.ring('envelope')
  return [current, ...former.map(({ key }) => key)]
}

/** A single thread assembles captured responses. They need less memory than a body to be translated. */
export function answerThreadBounds(bounds: Config['bounds']): Config['bounds'] {
  return {
    ...bounds,
    bodyThreads: 1,
    bodyBytesMax: Math.max(bounds.bodyBytesMax, bounds.captureAnswerHeldBytesMax),
  }
}
