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
  price: 'the model has no price. The operator can set one.',
  'input price': 'its price has no part for input. The operator can set one.',
  'output price': 'its price has no part for output. The operator can set one.',
  'search price':
    'it may search the web, and its price has no part for a search. Leave the search out, or have the operator set one.',
  'image price':
    'its price has no part for an image of this size and quality. Choose others, or have the operator set one.',
  context: 'the model has no context_length. The operator can set one.',
}
