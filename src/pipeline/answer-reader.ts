import type { NativeSide, Observation, StreamWatcher, WatchOptions } from '../protocols/protocol.ts'

/** Reads an upstream's answer and returns the bytes for the client. */
export interface AnswerReader {
  /** The content type for the client; undefined means the upstream's. */
  readonly contentType: string | undefined
  /** Returns a watcher for an answer that the upstream streams. */
  stream(): StreamWatcher
  /**
   * Reads an answer that the upstream did not stream. Never throws: when something is wrong,
   * `observation.error` is set or `complete` is false.
   */
  whole(body: Buffer): WholeAnswer
  /**
   * Whether `whole` changes an answer that begins with these bytes. Such an answer must be held, however
   * large it is. When this is absent, `whole` never changes an answer.
   */
  rewrites?(begin: Buffer): boolean
  /**
   * Returns the reader for an answer that is streamed although the client did not request a stream, or the
   * reverse. The client gets the kind that it requested.
   */
  forOtherKind(): AnswerReader
}

export interface WholeAnswer {
  observation: Observation
  body: Buffer
}

/** Pass-through: every answer is sent to the client unchanged, except an answer of the wrong kind. */
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
