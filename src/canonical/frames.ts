import type { Headers } from './headers.ts'

/**
 * A format over a WebSocket: one text frame carries the request, and each frame of the answer is an event.
 * Pure and synchronous.
 */
export interface FrameFormat {
  /** The headers of the upgrade, with names and values alternating. */
  headers: readonly string[]
  /** The frame for an HTTP request body. Undefined: the request is possible only over HTTP. */
  ask(body: Buffer): AskingFrame | undefined
  /**
   * Returns a reader for the frames of one answer. `stream`: whether the request is streamed. `bytesMax`:
   * limits what the reader holds in memory.
   */
  reader(options: { stream: boolean; bytesMax: number }): FrameReader
}

export interface AskingFrame {
  frame: Buffer
  /**
   * The earlier answer that the request continues. The connection that produced that answer is preferred, and
   * may be the only one that can continue it.
   */
  continues: string | undefined
}

export interface FrameReader {
  /** The content type of the returned bytes, which are the same as for this request over HTTP. */
  readonly contentType: string
  /**
   * Throws GatewayError `upstream_error` for a frame that is not in the format, or if the reader would exceed
   * `bytesMax`.
   */
  push(frame: Buffer): ReadFrame
}

export type ReadFrame =
  /** `bytes` of the answer, possibly empty. `last` is set when the answer is complete. */
  | { kind: 'event'; bytes: Buffer; last: LastEvent | undefined }
  /** Sent instead of an answer; corresponds to an HTTP response with an error status. */
  | { kind: 'refusal'; status: number; headers: Headers; body: Buffer; isOfConnection: boolean }

export interface LastEvent {
  /** The id that the connection uses for the answer. */
  answerId: string | undefined
  /** Whether the connection accepts another request. */
  isReusable: boolean
}
