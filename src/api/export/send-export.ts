import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { endAnswer, writeTo } from '../../http/event-stream.ts'
import { type ExportFormat, encoderOf, mediaOf } from './formats.ts'
import type { ExportColumn } from './row-encoder.ts'

export interface Export {
  format: ExportFormat
  columns: readonly ExportColumn[]
  /** The file name without its extension. */
  name: string
  /** The maximum number of rows; further rows are left out. */
  rowsMax: number
  stallMs: number
  signal: AbortSignal
}

/**
 * Sends rows as a file while they are read. The next batch is read when the client has received the previous
 * one. Reading stops when the client disconnects. A failure closes the connection, so that an incomplete file
 * is not mistaken for a complete one. Trailers state how many rows were sent and whether rows were left out.
 * HTTP/1.0 has no trailers, and an answer to HEAD ends before the rows.
 */
export async function sendExport(
  response: ServerResponse,
  batches: AsyncIterable<readonly (readonly unknown[])[]>,
  { format, columns, name, rowsMax, stallMs, signal }: Export,
): Promise<void> {
  const encoder = await encoderOf(format, columns)
  let sent = 0
  let isCut = false
  let hasBegun = false
  const isHead = response.req.method === 'HEAD'
  const hasTrailers = !isHead && response.req.httpVersion !== '1.0'
  const begin = async () => {
    if (hasBegun) return
    hasBegun = true
    response.writeHead(200, {
      'content-type': mediaOf[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'x-tollgate-rows-max': String(rowsMax),
      ...(hasTrailers && { trailer: 'x-tollgate-rows, x-tollgate-cut' }),
    })
    await write(encoder.begin())
  }
  const write = async (bytes: Buffer) => {
    if (bytes.length > 0) await writeTo(response, bytes, stallMs)
    signal.throwIfAborted()
  }
  for await (const rows of batches) {
    // The first batch has been read, so an earlier error can still set the response status.
    await begin()
    if (isHead) break
    const kept = rows.slice(0, rowsMax - sent)
    isCut = kept.length < rows.length
    if (kept.length > 0) await write(await encoder.rows(kept))
    sent += kept.length
    if (isCut) break
    // Lets requests to models run first.
    await setImmediate()
  }
  await begin()
  if (!isHead) await write(await encoder.end())
  if (hasTrailers) response.addTrailers({ 'x-tollgate-rows': String(sent), 'x-tollgate-cut': String(isCut) })
  endAnswer(response, stallMs)
}
