import { GatewayError, gatewayError } from '../canonical/error.ts'

/**
 * The one account of the memory of the bodies that this process reads or holds, from any source: HTTP,
 * WebSocket frames or jobs. It limits the total, the total of each key, and the total of decoded bodies,
 * because a few encoded kilobytes can become megabytes. The copy that is sent upstream does not count.
 */
export class BodyMemory {
  readonly #bounds: BodyMemoryBounds
  readonly #ofKeys = new Map<string, number>()
  #bytes = 0
  #decodedBytes = 0

  constructor(bounds: BodyMemoryBounds) {
    this.#bounds = bounds
  }

  /** The number of bytes currently counted. */
  get bytes(): number {
    return this.#bytes
  }

  /** The number of bytes currently counted for one key. */
  bytesOf(keyId: string): number {
    return this.#ofKeys.get(keyId) ?? 0
  }

  /** Begins the share of one request of a key. It is empty at first. */
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
  /** 0 means half of `bodiesBytesMax`, or the size of one body if that is larger. */
  keyBodiesBytesMax: number
  decodedBytesMax: number
  bodyBytesMax: number
}

/** The memory that one request's body uses. */
export interface BodyShare {
  /**
   * Counts more bytes. If it throws `rate_limited` or `unavailable`, none of them is counted. Does nothing
   * after `release`.
   */
  grow(bytes: number): void
  /**
   * Counts these bytes in place of those counted so far. Throws like `grow`, and then leaves the count
   * unchanged.
   */
  set(bytes: number): void
  /** Like `grow`, for the output of a decoder. */
  growDecoded(bytes: number): void
  /** Subtracts bytes that are no longer held. */
  shrink(bytes: number): void
  /** Ends the share when nothing holds the body any more. A second call does nothing. */
  release(): void
}

/**
 * Returns the key that the bodies of a caller are counted for. Sub-keys share the account of their parent.
 */
export function bodyOwnerOf({
  keyId,
  parent,
}: {
  keyId: string
  parent: { keyId: string } | undefined
}): string {
  return parent?.keyId ?? keyId
}

/** Like `BodyShare.grow`, for a caller that can wait. Returns false when there is no room at the moment. */
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
