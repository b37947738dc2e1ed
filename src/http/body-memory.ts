import { GatewayError } from '../canonical/error.ts'

/**
 * Bounds the memory of the request bodies that this process reads or holds: of all requests together, of each key, and of
 * those that it had to decode, because a few encoded kilobytes can become megabytes. The copy that goes upstream does not
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
    return {
      grow: (bytes) => {
        if (released) return
        this.#requireRoom(keyId, bytes)
        add(bytes)
      },
      growDecoded: (bytes) => {
        if (released) return
        if (this.#decodedBytes + bytes > this.#bounds.decodedBytesMax)
          throw tooManyDecoded(this.#bounds.decodedBytesMax)
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
    if (this.bytesOf(keyId) + bytes > keyMax) throw tooManyOfKey(keyMax)
    if (this.#bytes + bytes > bodiesBytesMax) throw tooMany(bodiesBytesMax)
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
  /** Count more bytes. Throws `rate_limited` or `unavailable`, and then counts none of them. Does nothing after `release`. */
  grow(bytes: number): void
  /** The same for bytes that came out of a decoder. */
  growDecoded(bytes: number): void
  /** These bytes are no longer held. */
  shrink(bytes: number): void
  /** Nothing holds the body any more. A second call does nothing. */
  release(): void
}

function keyBytesMax({ bodiesBytesMax, keyBodiesBytesMax, bodyBytesMax }: BodyMemoryBounds): number {
  return keyBodiesBytesMax === 0 ? Math.max(Math.ceil(bodiesBytesMax / 2), bodyBytesMax) : keyBodiesBytesMax
}

function tooManyOfKey(bytesMax: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    `The bodies of this key's running requests use the ${bytesMax} bytes of this gateway process that one key may use. Wait for one of them to end.`,
    { retryAfterSeconds: 1 },
  )
}

function tooMany(bytesMax: number): GatewayError {
  return new GatewayError(
    'unavailable',
    `The bodies of running requests use all ${bytesMax} bytes that this gateway process has for them. Try again.`,
    { retryAfterSeconds: 1 },
  )
}

function tooManyDecoded(bytesMax: number): GatewayError {
  return new GatewayError(
    'unavailable',
    `The decoded bodies of running requests use all ${bytesMax} bytes that they may use. Try again, or send the body unencoded.`,
    { retryAfterSeconds: 1 },
  )
}
