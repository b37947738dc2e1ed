import type { ReasoningSignature } from '../canonical/chat.ts'
import type { AnswerBlock, ChatEvent, Citation, Delta, Finish } from '../canonical/event.ts'
import type { Usage } from '../canonical/usage.ts'

/** A complete answer, assembled from its events. */
export interface CollectedAnswer {
  id: string | undefined
  model: string | undefined
  blocks: CollectedBlock[]
  finish: Finish
  usage: Usage | undefined
}

export interface CollectedBlock {
  block: AnswerBlock
  text: string
  signature: ReasoningSignature | undefined
  citations: Citation[]
  /** The results of a web search; empty for other blocks. */
  search: CollectedSearch
}

export interface CollectedSearch {
  queries: string[]
  sources: Extract<Delta, { type: 'source' }>[]
  /** Why the search failed. */
  failure?: string
}

/** Throws the GatewayError of an `error` event. */
export function collect(events: readonly ChatEvent[]): CollectedAnswer {
  const blocks = new Map<number, CollectedBlock>()
  let start: Extract<ChatEvent, { type: 'start' }> | undefined
  let finish: Finish | undefined
  for (const event of events) {
    switch (event.type) {
      case 'start':
        start = event
        break
      case 'block-start':
        blocks.set(event.index, {
          block: event.block,
          text: '',
          signature: undefined,
          citations: [],
          search: emptySearch(),
        })
        break
      case 'block-delta':
        addDelta(blocks.get(event.index), event.delta)
        break
      case 'block-end':
        break
      case 'finish':
        finish = event
        break
      case 'error':
        throw event.error
    }
  }
  if (finish === undefined) throw new Error('An answer without a finish event cannot be collected.')
  return {
    id: start?.id,
    model: start?.model,
    blocks: [...blocks.values()],
    finish,
    usage: finish.usage ?? start?.usage,
  }
}

function addDelta(collected: CollectedBlock | undefined, delta: Delta): void {
  if (collected === undefined) return
  if (delta.type === 'text') collected.text += delta.text
  else if (delta.type === 'signature') collected.signature = delta.signature
  else if (delta.type === 'citation') collected.citations.push(delta)
  else addToSearch(collected.search, delta)
}

export function emptySearch(): CollectedSearch {
  return { queries: [], sources: [] }
}

/** Adds a delta of a web search. Other deltas are ignored. */
export function addToSearch(search: CollectedSearch, delta: Delta): void {
  if (delta.type === 'query') search.queries.push(delta.query)
  else if (delta.type === 'source') search.sources.push(delta)
  else if (delta.type === 'search-failure') search.failure = delta.code
}
