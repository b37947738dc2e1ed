/** Turns the frames of a stream into server-sent events, however its bytes are split. */
export interface Deframer {
  /** Returns the bytes of the events that are complete, which may be none. Throws GatewayError. */
  push(chunk: Buffer): Buffer
  /** Called at the end of the answer. Throws GatewayError if a frame is incomplete. */
  end(): void
}

/** Creates a deframer for one answer. `frameBytesMax` limits the bytes that it holds. */
export type Framing = (frameBytesMax: number) => Deframer

/**
 * The framings of streams other than server-sent events, by media type. All code above `upstream/` reads only
 * server-sent events, whose bytes pass unchanged. No vendor that is supported uses another framing.
 */
export const framings: ReadonlyMap<string, Framing> = new Map()

/** Returns the framing of an answer; undefined if its bytes pass unchanged. */
export function framingOf(
  known: ReadonlyMap<string, Framing>,
  contentType: string | undefined,
): Framing | undefined {
  if (known.size === 0 || contentType === undefined) return undefined
  return known.get(contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '')
}
