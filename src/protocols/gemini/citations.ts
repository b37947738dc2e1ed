import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'

export interface Citation {
  url: string
  title: string | undefined
  /** UTF-8 bytes from the start of the answer. */
  start: number | undefined
  end: number | undefined
}

/**
 * The sources of a candidate: those that it recites and those that it is grounded on.
 *
 * https://ai.google.dev/api/generate-content#v1beta.CitationMetadata and #GroundingMetadata, read 2026-11-21
 */
export function readCitations({ citationMetadata, groundingMetadata }: Json): Citation[] {
  return [...readRecited(citationMetadata), ...readGrounding(groundingMetadata)]
}

/** The vendor's cloud names the same list `citations`. */
function readRecited(metadata: unknown): Citation[] {
  if (!isRecord(metadata)) return []
  return recordsOf(metadata.citationSources ?? metadata.citations).flatMap((source) => {
    const url = textOf(source.uri)
    if (url === undefined) return []
    return [{ url, title: textOf(source.title), start: startOf(source), end: offsetOf(source.endIndex) }]
  })
}

function readGrounding(metadata: unknown): Citation[] {
  if (!isRecord(metadata)) return []
  const chunks = Array.isArray(metadata.groundingChunks) ? metadata.groundingChunks.map(readChunk) : []
  return recordsOf(metadata.groundingSupports).flatMap(({ segment, groundingChunkIndices }) => {
    const place = isRecord(segment)
      ? { start: startOf(segment), end: offsetOf(segment.endIndex) }
      : { start: undefined, end: undefined }
    const indices = Array.isArray(groundingChunkIndices) ? groundingChunkIndices : []
    return indices.flatMap((index) => {
      const source = typeof index === 'number' ? chunks[index] : undefined
      return source === undefined ? [] : [{ ...source, ...place }]
    })
  })
}

function readChunk(chunk: unknown): { url: string; title: string | undefined } | undefined {
  if (!isRecord(chunk)) return undefined
  const source = [chunk.web, chunk.retrievedContext, chunk.maps].find(isRecord)
  const url = textOf(source?.uri)
  return url === undefined ? undefined : { url, title: textOf(source?.title) }
}

/** The wire omits a start of 0. */
function startOf({ startIndex }: Json): number | undefined {
  return startIndex === undefined ? 0 : offsetOf(startIndex)
}

function offsetOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
