import { GatewayError, gatewayError } from '../canonical/error.ts'

/**
 * The one account of the memory of bodies that this process reads or holds, whatever brings them: HTTP,
 * frames of WebSockets, jobs. It bounds that of all requests together, of each key, and of the bodies that it
 * had to decode, because a few encoded kilobytes can become megabytes. The copy that goes upstream does not
 * count.
 */
export class BodyMemory {
  readonly #bounds: BodyMemoryBounds
  readonly #ofKeys = new Map<string, number>()
  #bytes = 0
  #decodedBytes = 0

  constructor(bounds: BodyMemoryBounds) {
    this.#bounds = bounds
  }

  /** Bytes that count now. */
  get bytes(): number {
    return this.#bytes
  }

  /** Those of one key. */
  bytesOf(keyId: string): number {
    return this.#ofKeys.get(keyId) ?? 0
  }

  /** The share of one request of a key. It is empty at first. */
  begin(keyId: string): BodyShare {
    let own = 0
    let ownDecoded = 0
    let released = false
    const add = (bytes: number) => {
      own += bytes
      this.#add(keyId, bytes)
    }
    const grow = (bytes: number) => {
      if (released) return
      this.#requireRoom(keyId, bytes)
      add(bytes)
    }
    return {
      grow,
      set: (bytes) => {
        if (bytes > own) grow(bytes - own)
        else if (!released) add(bytes - own)
      },
      growDecoded: (bytes) => {
        if (released) return
        if (this.#decodedBytes + bytes > this.#bounds.decodedBytesMax)
          throw full('decoded_body_memory_full', this.#bounds.decodedBytesMax)
        this.#requireRoom(keyId, bytes)
        add(bytes)
        ownDecoded += bytes
        this.#decodedBytes += bytes
      },
      shrink: (bytes) => {
        if (!released) add(-bytes)
      },
      release: () => {
        if (released) return
        released = true
        this.#add(keyId, -own)
        this.#decodedBytes -= ownDecoded
      },
    }
  }

  #requireRoom(keyId: string, bytes: number): void {
    const { bodiesBytesMax } = this.#bounds
    const keyMax = keyBytesMax(this.#bounds)
    if (this.bytesOf(keyId) + bytes > keyMax) throw full('key_body_memory_full', keyMax)
    if (this.#bytes + bytes > bodiesBytesMax) throw full('body_memory_full', bodiesBytesMax)
  }

  #add(keyId: string, bytes: number): void {
    this.#bytes += bytes
    const left = this.bytesOf(keyId) + bytes
    if (left > 0) this.#ofKeys.set(keyId, left)
    else this.#ofKeys.delete(keyId)
  }
}

export interface BodyMemoryBounds {
  bodiesBytesMax: number
  /** 0: half of `bodiesBytesMax`, or one body where that is more. */
  keyBodiesBytesMax: number
  decodedBytesMax: number
  bodyBytesMax: number
}

/** The memory that one request's body takes. */
export interface BodyShare {
  /**
   * Count more bytes. Throws `rate_limited` or `unavailable`, and then counts none of them. Does nothing
   * after `release`.
   */
  grow(bytes: number): void
  /**
   * Count these bytes instead of what the share counted. Throws as `grow` does, and then counts what it
   * counted before.
   */
  set(bytes: number): void
  /** The same as `grow` for bytes that came out of a decoder. */
  growDecoded(bytes: number): void
  /** These bytes are no longer held. */
  shrink(bytes: number): void
  /** Nothing holds the body any more. A second call does nothing. */
  release(): void
}

/** The key whose account the bodies of a caller are on: sub-keys share that of their parent. */
export function bodyOwnerOf({
  keyId,
  parent,
}: {
  keyId: string
  parent: { keyId: string } | undefined
}): string {
  return parent?.keyId ?? keyId
}

/** As `BodyShare.grow`, for a caller that can wait. False: there is no room now. */
export function growIfRoom(share: BodyShare, bytes: number): boolean {
  try {
    share.grow(bytes)
    return true
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}

function keyBytesMax({ bodiesBytesMax, keyBodiesBytesMax, bodyBytesMax }: BodyMemoryBounds): number {
  return keyBodiesBytesMax === 0 ? Math.max(Math.ceil(bodiesBytesMax / 2), bodyBytesMax) : keyBodiesBytesMax
}

function full(
  reason: 'body_memory_full' | 'key_body_memory_full' | 'decoded_body_memory_full',
  bytesMax: number,
): GatewayError {
  return gatewayError(reason, { bytesMax }, { retryAfterSeconds: 1 })
}
