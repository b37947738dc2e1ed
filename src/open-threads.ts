import { availableParallelism } from 'node:os'
import { BodyThreads } from './bodies/body-threads.ts'
import type { Config } from './config.ts'
import type { SecretKeeper } from './secret-key.ts'
import type { Log } from './telemetry/log.ts'

/**
 * The most memory that a translation takes for a byte of the body, and for one of its keys and values: two
 * bytes a character for the text, its parts and the new text, which grows by doubling. A thread must never
 * reach its bound inside of JSON.parse or JSON.stringify: V8 would end the whole process.
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

/** The first of them signs. */
export function envelopeKeysOf(keeper: SecretKeeper): Buffer[] {
  const { current, former } = keeper.ring('envelope')
  return [current, ...former.map(({ key }) => key)]
}

/** One thread puts captured answers together. They take less memory than a body to be translated. */
export function answerThreadBounds(bounds: Config['bounds']): Config['bounds'] {
  return {
    ...bounds,
    bodyThreads: 1,
    bodyBytesMax: Math.max(bounds.bodyBytesMax, bounds.captureAnswerHeldBytesMax),
  }
}
