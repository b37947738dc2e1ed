/**
 * Frees a buffer's memory at once; the buffer is empty afterwards. Memory outside of V8's heap otherwise
 * waits for a collection, and for some tens of megabytes that wait V8 collects the whole heap. The bytes must
 * belong to this buffer alone: a part of a larger piece of memory stays, and so does shared memory.
 */
export function freeMemory({ buffer, length }: Buffer): void {
  // A small one is not worth the call.
  if (length >= 4096 && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
