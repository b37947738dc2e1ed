import type { Model } from './catalog.ts'

/** Something that a model can do, in a word or two. */
export interface Feature {
  /** In addresses. */
  id: string
  label: string
  /** Null: unknown. */
  has(model: Model): boolean | null
  /** The member of `capabilities` that says so. */
  member?: string
}

type Yes = 'tools' | 'parallel_tools' | 'strict_tools' | 'structured_output' | 'json_mode' | 'reasoning'
type Also = 'web_search' | 'caching' | 'prefill' | 'streaming'

const can = (name: Yes | Also) => ({ has: (model: Model) => model.capabilities[name], member: name })
const reads = (kind: string) => ({
  has: (model: Model) => model.capabilities.input?.includes(kind) ?? null,
  member: 'input',
})
const writes = (kind: string) => (model: Model) => model.capabilities.output?.includes(kind) ?? null
const serves = (path: string) => (model: Model) => model.endpoints.includes(path)

/** In the order in which people ask for them. */
export const features: readonly Feature[] = [
  { id: 'tools', label: 'tools', ...can('tools') },
  { id: 'structured-output', label: 'structured output', ...can('structured_output') },
  { id: 'reasoning', label: 'reasoning', ...can('reasoning') },
  { id: 'reads-images', label: 'reads images', ...reads('image') },
  { id: 'reads-documents', label: 'reads documents', ...reads('document') },
  { id: 'reads-audio', label: 'reads audio', ...reads('audio') },
  { id: 'web-search', label: 'web search', ...can('web_search') },
  { id: 'caching', label: 'prompt caching', ...can('caching') },
  {
    id: 'makes-images',
    label: 'makes images',
    has: (model) => serves('/v1/images/generations')(model) || writes('image')(model),
  },
  { id: 'embeddings', label: 'embeddings', has: serves('/v1/embeddings') },
  { id: 'streaming', label: 'streaming', ...can('streaming') },
  { id: 'parallel-tools', label: 'parallel tools', ...can('parallel_tools') },
  { id: 'strict-tools', label: 'strict tools', ...can('strict_tools') },
  { id: 'json-mode', label: 'JSON mode', ...can('json_mode') },
  { id: 'prefill', label: 'prefill', ...can('prefill') },
]

/** Those that tell models apart at first glance. The page of a model has all. */
export const mainFeatures = features.slice(0, 10)
