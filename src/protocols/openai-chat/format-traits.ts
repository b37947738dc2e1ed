import type { Traits } from '../../canonical/traits.ts'

/**
 * What holds on an upstream of this format where nothing else is known of the model.
 *
 * OpenAI's reasoning models refuse `max_tokens`, and its others take both names. The other servers of the format know
 * `max_tokens`, and some refuse the other name: Mistral with 422, older servers of vLLM and Azure with 400. Others ignore
 * it, so that the bound is lost in silence. So a model that is not named as OpenAI’s gets the older name.
 * https://github.com/anomalyco/opencode/issues/37964, https://github.com/editor-code-assistant/eca/issues/231,
 * https://github.com/voideditor/void/issues/128, https://github.com/BerriAI/litellm/issues/8855, read 2026-11-22
 *
 * Only OpenAI has custom tools. Other servers look for a function in each tool:
 * https://github.com/microsoft/foundry-local/issues/1080, https://github.com/JiuliNuoyi/CodexRosetta/pull/1,
 * read 2026-11-22
 *
 * The templates of many models that others serve join texts, and fail on parts:
 * https://github.com/router-for-me/CLIProxyAPI/issues/3056, https://github.com/earendil-works/pi/pull/1528, read 2026-11-28
 */
export function traitsOfFormat(upstreamModel: string): Traits {
  return isOpenAiModel(upstreamModel) ? openAi : others
}

const openAi: Traits = {
  stopMax: 4,
  outputBound: 'max_completion_tokens',
  customTools: true,
  textParts: true,
}
const others: Traits = { stopMax: 4, outputBound: 'max_tokens', customTools: false, textParts: false }

/**
 * Whether a model has a name of OpenAI's, also behind a path and in the name of a fine-tuned model:
 * `openai/gpt-5`, `ft:gpt-4o:acme`. The open models (`gpt-oss`, GPT-J, GPT-NeoX) run elsewhere.
 */
export function isOpenAiModel(upstreamModel: string): boolean {
  return /(^|[/:])(gpt-(?!oss|j\b|neo)|chatgpt-|o\d(-|$)|codex-|computer-use)/.test(
    upstreamModel.toLowerCase(),
  )
}
