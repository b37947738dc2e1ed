import type { ChatEvent } from '../../src/canonical/event.ts'

/** The first fault in a list of events by the grammar of canonical/event.ts; undefined when there is none. */
export function grammarFault(events: readonly ChatEvent[]): string | undefined {
  const open = new Set<number>()
  const signed = new Set<number>()
  const kinds = new Map<number, string>()
  const steps = new Map<number, number>()
  let begun = 0
  for (const [at, event] of events.entries()) {
    const isLast = at === events.length - 1
    const isEnd = event.type === 'finish' || event.type === 'error'
    if (isEnd !== isLast) return isLast ? 'no end' : `${event.type} at ${at} is not the last`
    if (event.type === 'error') return undefined
    if ((event.type === 'start') !== (at === 0)) return `${event.type} at ${at}`
    switch (event.type) {
      case 'start':
        break
      case 'block-start':
        if (event.index !== begun++) return `block ${event.index} starts as number ${begun - 1}`
        open.add(event.index)
        kinds.set(event.index, event.block.type)
        break
      case 'block-delta':
        if (!open.has(event.index)) return `a delta for block ${event.index}, which is not open`
        if (event.delta.type === 'text' && event.delta.text === '') return `an empty delta at ${at}`
        if (!takes(kinds.get(event.index), event.delta.type)) return `a strange ${event.delta.type} at ${at}`
        if (event.delta.type === 'query' && event.delta.query === '') return `an empty query at ${at}`
        if (kinds.get(event.index) === 'web-search') {
          const step = ['query', 'source', 'search-failure'].indexOf(event.delta.type)
          const before = steps.get(event.index) ?? 0
          if (step < before || before === 2) return `a ${event.delta.type} too late at ${at}`
          steps.set(event.index, step)
        }
        if (event.delta.type === 'signature') {
          if (signed.has(event.index)) return `a second signature for block ${event.index}`
          signed.add(event.index)
        }
        break
      case 'block-end':
        if (!open.delete(event.index)) return `an end for block ${event.index}, which is not open`
        break
      case 'finish':
        if (open.size > 0) return `block ${[...open][0]} is open at the end`
    }
  }
  return events.length === 0 ? 'no events' : undefined
}

/** Whether a block of a kind has deltas of a type. */
function takes(kind: string | undefined, delta: string): boolean {
  switch (kind) {
    case 'text':
      return delta === 'text' || delta === 'citation'
    case 'reasoning':
      return delta === 'text' || delta === 'signature'
    case 'web-search':
      return delta === 'query' || delta === 'source' || delta === 'search-failure'
    default:
      return delta === 'text'
  }
}
