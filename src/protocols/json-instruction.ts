/**
 * Asks a model for JSON in words. A model with tools must be free to call one: then its answer is not JSON.
 */
export function jsonOnly(what: 'object' | 'value', hasTools: boolean): string {
  const beginning = hasTools ? 'If you call no tool, answer' : 'Answer'
  return `${beginning} with one JSON ${what} and nothing else: no words before or behind it, no code fence.`
}
