import { queryOptions } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'

export type Model = Schema<'Model'>
export type Catalog = Schema<'PublicCatalog'>

/** Null: no group is public. */
export const catalogQuery = queryOptions({
  queryKey: ['public-catalog'],
  staleTime: 60_000,
  refetchOnWindowFocus: false,
  async queryFn({ signal }): Promise<Catalog | null> {
    const catalog = await ask(api.GET('/public/v1/catalog', { signal }))
    return catalog.groups.length === 0 ? null : catalog
  },
})

/** The name of a model, on its own and without the folders before it, and who makes it. */
const vendors: readonly (readonly [vendor: string, name: RegExp])[] = [
  ['Anthropic', /^claude/],
  ['OpenAI', /^(gpt|chatgpt|o\d|codex|dall-e|sora|whisper|text-embedding|omni-moderation|computer-use)/],
  ['Google', /^(gemini|gemma|imagen|veo)/],
  ['Mistral', /^(mistral|mixtral|magistral|ministral|codestral|devstral|pixtral|voxtral)/],
  ['Meta', /^(meta-)?llama/],
  ['DeepSeek', /^deepseek/],
  ['Alibaba', /^(qwen|qwq|wan\d)/],
  ['xAI', /^grok/],
  ['Moonshot AI', /^(kimi|moonshot)/],
  ['Z.AI', /^(glm|cogview)/],
  ['MiniMax', /^(minimax|abab)/],
  ['Cohere', /^(command|c4ai|embed-|rerank-)/],
  ['Microsoft', /^(phi-|mai-)/],
  ['Amazon', /^(nova|titan)/],
  ['Black Forest Labs', /^flux/],
  ['Stability AI', /^(stable-|sd3|sdxl)/],
  ['NVIDIA', /^nemotron/],
]

export const otherVendor = 'Other models'

/** The catalog names no vendor. The name of the model does, for the best known. */
export function vendorOf(id: string): string {
  const name = id.toLowerCase().split('/').at(-1) ?? ''
  // Bedrock's names: `us.anthropic.claude-...`.
  const last = name.replace(/^([a-z]+\.)+(?=[a-z])/, '')
  return vendors.find(([, pattern]) => pattern.test(last))?.[0] ?? otherVendor
}

/** The best known first, and the rest at the end. */
export function byVendor(models: readonly Model[]): [vendor: string, models: Model[]][] {
  const order = [...vendors.map(([vendor]) => vendor), otherVendor]
  const groups = Map.groupBy(models, ({ id }) => vendorOf(id))
  return [...groups].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
}

/** Every model once, at the price of the first group that has it. */
export function allModels(catalog: Catalog): Model[] {
  const models = new Map<string, Model>()
  for (const group of catalog.groups) {
    for (const model of group.models) if (!models.has(model.id)) models.set(model.id, model)
  }
  return [...models.values()]
}

/** By an id, or by another name of a model. */
export function findModel(
  catalog: { groups: readonly { name: string; models: readonly Model[] }[] },
  id: string,
): { group: string; model: Model }[] {
  const inGroup = (models: readonly Model[]) =>
    models.find((model) => model.id === id) ?? models.find(({ aliases }) => aliases.includes(id))
  return catalog.groups.flatMap(({ name, models }) => {
    const model = inGroup(models)
    return model === undefined ? [] : [{ group: name, model }]
  })
}
