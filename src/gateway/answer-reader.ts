import type { NativeSide, Observation, StreamWatcher, WatchOptions } from '../protocols/protocol.ts'

/** Reads an upstream's answer, and returns the bytes for the client. */
export interface AnswerReader {
  /** The content type for the client; undefined: the upstream's. */
  readonly contentType: string | undefined
  /** For an answer that the upstream streams. */
  stream(): StreamWatcher
  /**
   * For an answer that came whole. Never throws: `observation.error` is set, or `complete` false, if
   * something is wrong.
   */
  whole(body: Buffer): WholeAnswer
  /**
   * Whether `whole` changes an answer that begins so: then it has to be held, however large it is. Absent: it
   * does not.
   */
  rewrites?(begin: Buffer): boolean
  /**
   * The reader for an answer of the other kind than asked for, streamed or whole: the client gets the kind it
   * asked for.
   */
  forOtherKind(): AnswerReader
}

export interface WholeAnswer {
  observation: Observation
  body: Buffer
}

/** Pass-through: every answer goes to the client unchanged, except an answer of the wrong kind. */
export function readNative(
  side: NativeSide,
  options: WatchOptions,
  forOtherKind: () => AnswerReader,
): AnswerReader {
  return {
    forOtherKind,
    contentType: undefined,
    stream: () => side.watchStream(options),
    whole: (body) => ({ observation: side.watchResponse(body), body }),
  }
}
