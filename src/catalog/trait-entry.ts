import { z } from 'zod'
import { reasoningEfforts } from '../canonical/chat.ts'
import {
  modalities,
  type OptionalParameter,
  optionalParameters,
  schemaSubsets,
  type Traits,
  thinkingStyles,
} from '../canonical/traits.ts'
import { wholeNumber } from '../db/settings/values.ts'
import { protocolNames } from '../protocols/protocol.ts'

const yesOrNo = z.boolean().exactOptional()
const tokens = wholeNumber(1, 2_147_483_647).exactOptional()
const kinds = z.array(z.enum(modalities)).min(1).exactOptional()

/**
 * `traits` in gateway.yaml, with the names of the file. Absent settings stay absent, because the result is
 * compared with rows.
 */
const inFile = {
  input: kinds,
  output: kinds,
  tools: yesOrNo,
  parallel_tools: yesOrNo,
  forced_tools: yesOrNo,
  forced_tools_while_thinking: yesOrNo,
  strict_tools: yesOrNo,
  custom_tools: yesOrNo,
  tools_with_format: yesOrNo,
  forced_tools_with_format: yesOrNo,
  tools_while_thinking: yesOrNo,
  takes: z.partialRecord(z.enum(optionalParameters.map(snakeCase)), z.boolean()).exactOptional(),
  temperature_with_top_p: yesOrNo,
  temperature_max: z.number().min(0).max(2).exactOptional(),
  sampling_while_thinking: yesOrNo,
  stop_max: wholeNumber(0, 1000).exactOptional(),
  choices_max: wholeNumber(1, 128).exactOptional(),
  thinking: z.enum(thinkingStyles).exactOptional(),
  thinking_off: yesOrNo,
  thinking_default: yesOrNo,
  thinking_switch: z.enum(['thinking', 'enable_thinking']).exactOptional(),
  thinking_budget_min: wholeNumber(0, 2_147_483_647).exactOptional(),
  thinking_budget_max: tokens,
  effort_levels: z.array(z.enum(reasoningEfforts)).min(1).exactOptional(),
  effort_default: z.enum(reasoningEfforts).exactOptional(),
  output_bound: z.enum(['max_tokens', 'max_completion_tokens']).exactOptional(),
  prefill: yesOrNo,
  schema: z.enum(schemaSubsets).exactOptional(),
  json_mode: yesOrNo,
  developer_role: yesOrNo,
  later_instructions: yesOrNo,
  several_instructions: yesOrNo,
  text_parts: yesOrNo,
  user_after_tool_results: yesOrNo,
  thoughts_in_history: z.enum(['required', 'text', 'refused']).exactOptional(),
  call_ids: z.enum(['any', 'nine']).exactOptional(),
  caching: z.enum(['marks', 'breakpoints', 'automatic', 'none']).exactOptional(),
  fetches_urls: yesOrNo,
  web_search: yesOrNo,
  streaming: yesOrNo,
  context_length: tokens,
  max_output_tokens: tokens,
  output_tokens_min: wholeNumber(1, 16).exactOptional(),
  protocols: z.array(z.enum(protocolNames)).min(1).exactOptional(),
}

/** The `traits` of a model, a channel or an offer. */
export const traitEntry = z.strictObject(inFile).transform(
  (file): Traits => ({
    ...Object.fromEntries(Object.entries(file).map(([name, value]) => [camelCase(name), value])),
    ...(file.takes !== undefined && { takes: parametersOf(file.takes) }),
  }),
)

/** Returns traits with the names used in the file, as in `GET /v1/models` and the admin API. */
export function traitsInWords(traits: Traits): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(traits).map(([name, value]) => [
      snakeCase(name),
      name === 'takes' && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([each, taken]) => [snakeCase(each), taken]))
        : value,
    ]),
  )
}

function parametersOf(
  words: Record<string, boolean | undefined>,
): Partial<Record<OptionalParameter, boolean>> {
  const taken: Partial<Record<OptionalParameter, boolean>> = {}
  for (const name of optionalParameters) {
    const value = words[snakeCase(name)]
    if (value !== undefined) taken[name] = value
  }
  return taken
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
