import { isRecord } from '../../canonical/json.ts'
import type { AnswerReader } from '../answer-reader.ts'

type EmbeddingEncoding = 'base64' | 'float'

/**
 * Wraps the reader to return embeddings in the requested encoding. Some SDKs request base64 by default, and
 * servers that do not know `encoding_format` answer with numbers, which some of those SDKs decode into wrong
 * vectors without an error: https://github.com/openai/openai-node/issues/1542. An answer in the right
 * encoding passes unchanged.
 */
export function readEmbeddings(reader: AnswerReader, wanted: EmbeddingEncoding): AnswerReader {
  return {
    ...reader,
    rewrites: (begin) => isOther(begin, wanted),
    whole(body) {
      const read = reader.whole(body)
      const encoded = isOther(body, wanted) ? encodedAs(body, wanted) : undefined
      if (encoded === undefined) return read
      const { losses = [], ...observation } = read.observation
      const reason = `the upstream did not use the requested encoding, ${wanted}`
      const note = { path: 'answer.data[].embedding', action: 'mapped', reason } as const
      return { observation: { ...observation, losses: [...losses, note] }, body: encoded }
    },
  }
}

/** Checks the first vector for the other encoding. */
function isOther(answer: Buffer, wanted: EmbeddingEncoding): boolean {
  for (let at = answer.indexOf(member); at !== -1; at = answer.indexOf(member, at + 1)) {
    const colon = skipBlanks(answer, at + member.length)
    // `"object": "embedding"` contains the same text.
    if (answer[colon] !== 0x3a) continue
    return answer[skipBlanks(answer, colon + 1)] === (wanted === 'base64' ? 0x5b : 0x22)
  }
  return false
}

const member = '"embedding"'

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

/** Returns undefined when a vector cannot be converted, in which case the answer stays unchanged. */
function encodedAs(body: Buffer, wanted: EmbeddingEncoding): Buffer | undefined {
  const answer: unknown = parsed(body)
  if (!isRecord(answer) || !Array.isArray(answer.data)) return undefined
  const data: unknown[] = []
  for (const item of answer.data) {
    if (!isRecord(item)) return undefined
    const embedding = wanted === 'base64' ? toBase64(item.embedding) : toNumbers(item.embedding)
    if (embedding === undefined) return undefined
    data.push({ ...item, embedding })
  }
  return Buffer.from(JSON.stringify({ ...answer, data }))
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Little-endian 32-bit floats. */
function toBase64(vector: unknown): string | undefined {
  if (typeof vector === 'string') return vector
  if (!Array.isArray(vector) || !vector.every((number) => typeof number === 'number')) return undefined
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [at, number] of vector.entries()) bytes.writeFloatLE(number, at * 4)
  return bytes.toString('base64')
}

function toNumbers(vector: unknown): number[] | undefined {
  if (typeof vector !== 'string') return Array.isArray(vector) ? vector : undefined
  const bytes = Buffer.from(vector, 'base64')
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined
  const numbers = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
  return numbers.every(Number.isFinite) ? numbers : undefined
}
