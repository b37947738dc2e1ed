import { countsBy } from '../canonical/price-parts.ts'
import type { Usage } from '../canonical/usage.ts'
import { clamp, int4, word } from '../journal/column.ts'
import { redactText } from '../redaction/redact.ts'

/**
 * Limits the counts to what the usage log can store. An upstream can report any number, so this must be done
 * before any use.
 */
export function boundedUsage(reported: Usage): Usage {
  const { serviceTier, others } = reported
  const tokens = {
    input: clamp(reported.input, int4.max),
    cacheRead: clamp(reported.cacheRead, int4.max),
    cacheWrite: clamp(reported.cacheWrite, int4.max),
    output: clamp(reported.output, int4.max),
    reasoning: clamp(reported.reasoning, int4.max),
  }
  return {
    ...tokens,
    ...countsBy(({ name, within, max = int4.max }) =>
      clamp(reported[name] ?? 0, within === undefined ? max : tokens[within]),
    ),
    ...(serviceTier === undefined ? {} : { serviceTier: redactText(serviceTier, [], word.max) }),
    ...(others === undefined ? {} : { others }),
  }
}
