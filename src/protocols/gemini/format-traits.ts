import type { Traits } from '../../canonical/traits.ts'
import { isBefore3 } from './wire.ts'

/**
 * What holds on an upstream of this format where nothing else is known of the model. The generation of a model decides most
 * of it, and its name shows the generation.
 *
 * https://ai.google.dev/gemini-api/docs/thinking, read 2026-11-21. Before Gemini 3, tools together with a JSON format are
 * 400 "Function calling with a response mime type: 'application/json' is unsupported":
 * https://github.com/googleapis/python-genai/issues/867, read 2026-11-22
 */
export function traitsOfFormat(upstreamModel: string): Traits {
  if (!isBefore3(upstreamModel)) return now
  return upstreamModel.includes('pro') ? earlierPro : earlier
}

/** Most models refuse MINIMAL, and all of them always think. */
const now: Traits = {
  stopMax: 5,
  thinking: 'effort',
  effortLevels: ['low', 'medium', 'high'],
  thinkingOff: false,
}

const earlier: Traits = {
  stopMax: 5,
  thinking: 'budget',
  thinkingBudgetMin: 0,
  thinkingBudgetMax: 24_576,
  toolsWithFormat: false,
}

const earlierPro: Traits = {
  ...earlier,
  thinkingOff: false,
  thinkingBudgetMin: 128,
  thinkingBudgetMax: 32_768,
}
