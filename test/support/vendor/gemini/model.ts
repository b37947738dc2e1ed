import { isRecord, type Json, recordsOf } from '../../../../src/canonical/json.ts'
import { isAbsent, refuse } from '../check.ts'

/**
 * What one Gemini refuses and another takes, by the model's name. Throws Refusal. A name without a version has the rules of
 * all that are known: it takes no level MINIMAL.
 *
 * https://github.com/googleapis/python-genai/issues/867 (tools with JSON), https://ai.google.dev/gemini-api/docs/thinking,
 * https://github.com/vercel/ai/tree/main/packages/google/src/__fixtures__ (words about penalties and levels),
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini/3-5-flash-lite, read 2026-11-22. The words
 * about a budget of 0, levels of 2.5 and the last turn are ours.
 */
export function checkGemini(body: Json, model: string): void {
  const name = model.toLowerCase()
  const config = isRecord(body.generationConfig) ? body.generationConfig : {}
  const version = Number(/^gemini-(\d(?:\.\d)?)/.exec(name)?.[1] ?? 0)
  checkThinking(config, name, version)
  if (version === 0) return
  const declares = recordsOf(body.tools).some(({ functionDeclarations }) =>
    Array.isArray(functionDeclarations),
  )
  if (version < 3 && declares && config.responseMimeType === 'application/json') {
    refuse("Function calling with a response mime type: 'application/json' is unsupported")
  }
  const hasNoPenalty = version === 2.5 || name.startsWith('gemini-3.5-flash-lite')
  if (hasNoPenalty && (!isAbsent(config.frequencyPenalty) || !isAbsent(config.presencePenalty))) {
    refuse(`Penalty is not enabled for models/${model}`)
  }
  if (name.startsWith('gemini-3.5-flash-lite') && recordsOf(body.contents).at(-1)?.role === 'model') {
    refuse('The last content must not have the role model for this model.')
  }
}

function checkThinking(config: Json, name: string, version: number): void {
  const thinking = isRecord(config.thinkingConfig) ? config.thinkingConfig : {}
  const { thinkingBudget: budget, thinkingLevel: level } = thinking
  if (!isAbsent(level)) {
    if (version === 2 || version === 2.5) refuse('Thinking level is not supported for this model.')
    if (!levelsOf(name, version).includes(String(level))) {
      refuse(
        `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`,
      )
    }
  }
  if (typeof budget !== 'number' || budget === -1) return
  if (version === 2) refuse('Thinking is not enabled for this model.')
  if (version !== 2.5) return
  const [least, most] = budgetsOf(name)
  const canBeOff = !name.includes('-pro')
  if (budget === 0 && canBeOff) return
  if (budget === 0) refuse('Budget 0 is invalid. This model only works in thinking mode.')
  if (budget < least || budget > most) {
    refuse(`The thinking budget ${budget} is invalid. Please choose a value between ${least} and ${most}.`)
  }
}

function budgetsOf(name: string): [number, number] {
  if (name.includes('-pro')) return [128, 32_768]
  return name.includes('-lite') ? [512, 24_576] : [1, 24_576]
}

function levelsOf(name: string, version: number): readonly string[] {
  if (version === 3 && name.includes('-pro')) return ['LOW', 'HIGH']
  const takesMinimal = name.includes('-flash') && [3, 3.1, 3.5, 3.6].includes(version)
  return takesMinimal ? ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] : ['LOW', 'MEDIUM', 'HIGH']
}
