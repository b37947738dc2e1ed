import { countOf, recordsOf, textOf } from '../../canonical/json.ts'
import { refined } from '../../canonical/price-parts.ts'
import { addUsage, type ModelUsage, type Usage } from '../../canonical/usage.ts'
import { hourTokens, writtenTokens } from '../cache-counts.ts'

/** Tokens of an answer that are missing from its top-level counts. */
export interface UncountedTokens {
  /** Tokens that the requested model used to compact the conversation. */
  compaction: Usage | undefined
  /** Tokens of the advisor models, with one entry per consultation. */
  others: readonly ModelUsage[]
}

/**
 * Reads the `iterations` of a `usage` object. Returns undefined if there is no list.
 *
 * The top-level counts are the sum of the `message` entries. They exclude `compaction` entries, which the
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

/** The maximum number of consultations that we record per answer. */
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
