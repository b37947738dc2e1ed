import { getPriority, setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { KeyRing } from '../canonical/key-ring.ts'
import { makeEnvelope } from '../protocols/envelope.ts'
import type { ReadSettings } from './read-body.ts'
import { type JobName, type JobSettings, jobs, type ThreadJob, type ThreadJobs } from './thread-jobs.ts'
import { type WireError, wireErrorOf } from './wire-error.ts'

export interface BodyThreadData extends ReadSettings {
  /** The first key signs. */
  envelopeKeys: readonly Uint8Array[]
}

/** Replaces the keys. The thread sends no reply. */
export interface LearnedKeys {
  envelopeKeys: BodyThreadData['envelopeKeys']
}

/** The reply to a job. */
export type ThreadReply<Name extends JobName = JobName> =
  | { output: ThreadJobs[Name]['output'] }
  | { error: WireError }

/**
 * On a busy processor, a thread gets less time than the event loop, because all clients wait for the event
 * loop.
 */
const niceness = 5

if (parentPort !== null) serve(parentPort, workerData)

/** Runs jobs one after the other. */
function serve(port: MessagePort, { envelopeKeys, bounds, redaction }: BodyThreadData): void {
  // On Linux this is the priority of the thread, elsewhere that of the whole process. To raise a low one
  // takes a right that few processes have.
  if (process.platform === 'linux') setPriority(Math.max(getPriority(), niceness))
  const settings: JobSettings = {
    bounds,
    redaction: { ...redaction, key: Buffer.from(redaction.key) },
    envelope: makeEnvelope(ringOfAll(envelopeKeys)),
  }
  port.on('message', (job: ThreadJob | LearnedKeys) => {
    if ('envelopeKeys' in job) {
      settings.envelope = makeEnvelope(ringOfAll(job.envelopeKeys))
      return
    }
    const reply = replyTo(job, settings)
    port.postMessage(reply, memoryOf(reply))
  })
}

function ringOfAll([current = new Uint8Array(), ...former]: readonly Uint8Array[]): KeyRing {
  return {
    current: Buffer.from(current),
    former: former.map((key) => ({ key: Buffer.from(key), retiredMs: 0 })),
  }
}

function replyTo(job: ThreadJob, settings: JobSettings): ThreadReply {
  try {
    if (job.name === 'answer') return { output: jobs.answer(job.input, settings) }
    // A buffer arrives as a plain byte array.
    const bytes = bufferOf(job.input.bytes)
    switch (job.name) {
      case 'read':
        return { output: jobs.read({ ...job.input, bytes }, settings) }
      case 'translate':
        return { output: jobs.translate({ ...job.input, bytes }, settings) }
      case 'own':
        return { output: jobs.own({ ...job.input, bytes }, settings) }
      case 'unsealed':
        return { output: jobs.unsealed({ bytes }) }
      case 'needs':
        return { output: jobs.needs({ ...job.input, bytes }, settings) }
      case 'files':
        return { output: jobs.files({ ...job.input, bytes }) }
      case 'count':
        return { output: jobs.count({ ...job.input, bytes }, settings) }
    }
  } catch (error) {
    return { error: wireErrorOf(error) }
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

/** The memory that is transferred to the other thread with a reply instead of being copied. */
function memoryOf(reply: ThreadReply): ArrayBuffer[] {
  if ('error' in reply || reply.output === undefined) return []
  const { output } = reply
  if ('bytes' in output) return output.bytes.buffer instanceof ArrayBuffer ? [output.bytes.buffer] : []
  const own = 'counted' in output && 'own' in output.counted ? output.counted.own : undefined
  return own === undefined ? [] : [own.bytes.buffer]
}
