import { countOf, recordsOf, textOf } from '../../canonical/json.ts'
import { addUsage, type ModelUsage, refined, type Usage } from '../../canonical/usage.ts'
import { hourTokens, writtenTokens } from '../cache-counts.ts'

/** The tokens of an answer that its top-level counts leave out. */
export interface UncountedTokens {
  /** Tokens that the request's own model used to compact the conversation. */
  compaction: Usage | undefined
  /** Tokens of the models that advised it, one entry for each consultation. */
  others: readonly ModelUsage[]
}

/**
 * Read the `iterations` of a `usage` object. Undefined if there is no list.
 *
 * The top-level counts are the sum of the `message` entries. They leave out `compaction` entries, which the
 * vendor bills at the rates of the same model (`BetaUsage.iterations` in the types of @anthropic-ai/sdk
 * 1.12), and `advisor_message` entries, which it bills at the rates of the advisor
 * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool, read 2026-11-22).
 */
export function readIterations(iterations: unknown): UncountedTokens | undefined {
  if (!Array.isArray(iterations)) return undefined
  let compaction: Usage | undefined
  const others: ModelUsage[] = []
  for (const entry of recordsOf(iterations)) {
    if (entry.type !== 'compaction' && entry.type !== 'advisor_message') continue
    const usage = readEntry(entry)
    if (entry.type === 'compaction')
      compaction = compaction === undefined ? usage : addUsage(compaction, usage)
    else if (others.length < othersMax) others.push({ model: textOf(entry.model) ?? '', usage })
  }
  return { compaction, others }
}

/** Most consultations of one answer that we keep. */
const othersMax = 1000

function readEntry(entry: Record<string, unknown>): Usage {
  const cacheWrite = writtenTokens(entry) ?? 0
  return {
    input: countOf(entry.input_tokens) ?? 0,
    cacheRead: countOf(entry.cache_read_input_tokens) ?? 0,
    cacheWrite,
    output: countOf(entry.output_tokens) ?? 0,
    reasoning: 0,
    ...refined({ cacheWrite1h: Math.min(hourTokens(entry.cache_creation), cacheWrite) }),
  }
}
