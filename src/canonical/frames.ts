import type { Headers } from './headers.ts'

/**
 * A format over a WebSocket: one text frame asks, and each frame of the answer is an event. Pure and
 * synchronous.
 */
export interface FrameFormat {
  /** Headers of the upgrade: names and values in turn. */
  headers: readonly string[]
  /** The frame for the body of a request over HTTP. Undefined: only HTTP can ask this. */
  ask(body: Buffer): AskingFrame | undefined
  /**
   * Reads the frames of one answer. `stream`: the request wants a stream. `bytesMax`: of what the reader
   * holds.
   */
  reader(options: { stream: boolean; bytesMax: number }): FrameReader
}

export interface AskingFrame {
  frame: Buffer
  /**
   * The earlier answer that it continues. The connection that gave that answer may know it best, or alone.
   */
  continues: string | undefined
}

export interface FrameReader {
  /** Of the bytes that it returns, which are what the same request gets over HTTP. */
  readonly contentType: string
  /**
   * Throws GatewayError `upstream_error` for a frame that is not in the format, and where it would hold too
   * much.
   */
  push(frame: Buffer): ReadFrame
}

export type ReadFrame =
  /** `bytes` of the answer; they may be none. `last`: the answer is over. */
  | { kind: 'event'; bytes: Buffer; last: LastEvent | undefined }
  /** Instead of an answer: what HTTP says with a status. */
  | { kind: 'refusal'; status: number; headers: Headers; body: Buffer; isOfConnection: boolean }

export interface LastEvent {
  /** The id by which the connection knows the answer. */
  answerId: string | undefined
  /** The connection takes another request. */
  isReusable: boolean
}
