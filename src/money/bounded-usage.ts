import { refined, type Usage } from '../canonical/usage.ts'
import { clamp, int4, word } from '../journal/column.ts'
import { redactText } from '../redaction/redact.ts'

/**
 * Limits the counts to what the usage log can store. An upstream can report any number, so this must be done
 * before any use.
 */
export function boundedUsage(reported: Usage): Usage {
  const input = clamp(reported.input, int4.max)
  const cacheWrite = clamp(reported.cacheWrite, int4.max)
  const output = clamp(reported.output, int4.max)
  const { cacheWrite1h = 0, audioInput = 0, audioOutput = 0, webSearches = 0, serviceTier, others } = reported
  return {
    input,
    cacheRead: clamp(reported.cacheRead, int4.max),
    cacheWrite,
    output,
    reasoning: clamp(reported.reasoning, int4.max),
    ...refined({
      cacheWrite1h: clamp(cacheWrite1h, cacheWrite),
      audioInput: clamp(audioInput, input),
      audioOutput: clamp(audioOutput, output),
      webSearches: clamp(webSearches, webSearchesMax),
    }),
    ...(serviceTier === undefined ? {} : { serviceTier: redactText(serviceTier, [], word.max) }),
    ...(others === undefined ? {} : { others }),
  }
}

/** A higher number of searches in one answer is not credible. */
const webSearchesMax = 10_000
