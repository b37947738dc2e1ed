import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { MissingBound } from '../money/price.ts'
import { redactText } from '../redaction/redact.ts'

/**
 * The refusal of a request with limited money whose cost has no bound. It names the one thing that is
 * missing. `answerBound` says how to bound the answer; `reason` says why more than the body counts.
 */
export function costNotBounded(
  model: string,
  missing: MissingBound,
  { answerBound, reason }: { answerBound: string; reason?: string | undefined },
): GatewayError {
  const words = missing === 'output' ? `nothing bounds its answer. ${answerBound}.` : missingWords[missing]
  const why = reason === undefined ? words : `${words} ${reason}`
  return gatewayError('cost_not_bounded', { model: redactText(model), why }, { field: 'model' })
}

export const outputByOperator = 'The operator can set max_output_tokens'

const missingWords: Readonly<Record<Exclude<MissingBound, 'output'>, string>> = {
  price: 'it has no price. The operator can set one.',
  'input price': 'its price has none for input. The operator can set one.',
  'output price': 'its price has none for output. The operator can set one.',
  'search price':
    'it may search the web, and its price has none for a search. Leave the search out, or have the operator set one.',
  'image price':
    'its price has none for an image of this size and quality. Choose others, or have the operator set one.',
  context: 'it has no context_length.',
}
