/**
 * The text that asks a model for JSON. A model with tools must remain free to call one, in which case its
 * answer is not JSON.
 */
export function jsonOnly(what: 'object' | 'value', hasTools: boolean): string {
  const beginning = hasTools ? 'If you do not call a tool, answer' : 'Answer'
  return `${beginning} with one JSON ${what} and nothing else: no text before or after it, no code fence.`
}
