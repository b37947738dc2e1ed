/**
 * Memory for large bodies that threads can read too. V8 does not know its size, so unused memory could wait a
 * long time for the garbage collector. It is therefore reused, in sizes that are powers of two.
 */
export function takeShared(bytes: number): Buffer<SharedArrayBuffer> {
  const size = sizeFor(bytes)
  const memory = free.get(size)?.pop()
  if (memory === undefined) return Buffer.from(new SharedArrayBuffer(size), 0, bytes)
  freeBytes -= size
  return Buffer.from(memory, 0, bytes)
}

/** Must be called when nothing reads the memory of `takeShared` any more. */
export function keepShared({ buffer }: Uint8Array): void {
  const size = buffer.byteLength
  if (!(buffer instanceof SharedArrayBuffer) || freeBytes + size > freeBytesMax) return
  const same = free.get(size)
  if (same === undefined) free.set(size, [buffer])
  else same.push(buffer)
  freeBytes += size
  forgetLater()
}

const free = new Map<number, SharedArrayBuffer[]>()
let freeBytes = 0
let forgetting: NodeJS.Timeout | undefined

/** Unused memory beyond this is left to the garbage collector. */
const freeBytesMax = 256 * 1024 * 1024
/** Memory that no body has used for this long is left to the garbage collector too. */
const unusedMs = 10_000

function sizeFor(bytes: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(bytes, 64 * 1024)))
}

function forgetLater(): void {
  forgetting ??= setTimeout(() => {
    free.clear()
    freeBytes = 0
  }, unusedMs).unref()
  forgetting.refresh()
}
