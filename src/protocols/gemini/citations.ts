import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'

/** A source of the answer. */
export interface Cited {
  url: string
  title: string | undefined
  /** Offsets in UTF-8 bytes from the start of the answer. */
  start: number | undefined
  end: number | undefined
  /** The answer's text from `start` to `end`, if the upstream repeats it. */
  text: string | undefined
}

/**
 * The sources of a candidate: those that it recites and those that it is grounded on.
 *
 * https://ai.google.dev/api/generate-content#v1beta.CitationMetadata and #GroundingMetadata, read 2026-11-21
 */
export function readCitations({ citationMetadata, groundingMetadata }: Json): Cited[] {
  return [...readRecited(citationMetadata), ...readGrounding(groundingMetadata)]
}

/** The vendor's cloud API uses the name `citations` for the same list. */
function readRecited(metadata: unknown): Cited[] {
  if (!isRecord(metadata)) return []
  return recordsOf(metadata.citationSources ?? metadata.citations).flatMap((source) => {
    const url = textOf(source.uri)
    if (url === undefined) return []
    const place = { start: startOf(source), end: offsetOf(source.endIndex), text: undefined }
    return [{ url, title: textOf(source.title), ...place }]
  })
}

function readGrounding(metadata: unknown): Cited[] {
  if (!isRecord(metadata)) return []
  const chunks = chunksOf(metadata)
  return recordsOf(metadata.groundingSupports).flatMap(({ segment, groundingChunkIndices }) => {
    const place = isRecord(segment)
      ? { start: startOf(segment), end: offsetOf(segment.endIndex), text: textOf(segment.text) }
      : { start: undefined, end: undefined, text: undefined }
    const indices = Array.isArray(groundingChunkIndices) ? groundingChunkIndices : []
    return indices.flatMap((index) => {
      const source = typeof index === 'number' ? chunks[index] : undefined
      return source === undefined ? [] : [{ ...source, ...place }]
    })
  })
}

interface Page {
  url: string
  title: string | undefined
}

/** The pages found by a candidate's web searches. */
export function readPages({ groundingMetadata: metadata }: Json): Page[] {
  if (!isRecord(metadata)) return []
  return chunksOf(metadata).filter((page) => page !== undefined)
}

function chunksOf({ groundingChunks }: Json): (Page | undefined)[] {
  return Array.isArray(groundingChunks) ? groundingChunks.map(readChunk) : []
}

function readChunk(chunk: unknown): Page | undefined {
  if (!isRecord(chunk)) return undefined
  const source = [chunk.web, chunk.retrievedContext, chunk.maps].find(isRecord)
  const url = textOf(source?.uri)
  return url === undefined ? undefined : { url, title: textOf(source?.title) }
}

/** A start of 0 is omitted on the wire. */
function startOf({ startIndex }: Json): number | undefined {
  return startIndex === undefined ? 0 : offsetOf(startIndex)
}

function offsetOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
