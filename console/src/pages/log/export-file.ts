import { ApiError, errorOf } from '../../api/client.ts'

/**
 * Reads a file whole. The browser keeps it, on the disk where it is large. Throws where it is refused, or
 * cut.
 */
export async function readFile(
  path: string,
  signal: AbortSignal,
  tell: (bytes: number) => void,
): Promise<Blob> {
  const response = await fetch(path, { signal })
  if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined))
  let read = 0
  let toldAt = 0
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        read += chunk.length
        if (performance.now() - toldAt > tellMs) {
          toldAt = performance.now()
          tell(read)
        }
        controller.enqueue(chunk)
      },
    }),
  )
  try {
    return await new Response(counted ?? null, { headers: response.headers }).blob()
  } catch (cause) {
    if (signal.aborted) throw cause
    throw new ApiError(response.status, {
      title: 'The file was cut',
      detail:
        'The gateway ended it before its end, so nothing is saved. Try again, with less time or more filters.',
    })
  }
}

const tellMs = 250
