import type { Schema } from '../../api/client.ts'

/** `openai-eu (by *), local`: the channels that serve a model, with what is not usual. */
export function servedBy(channels: Schema<'AdminModelDetails'>['channels']): string {
  return channels
    .map(({ name, by, state }) => {
      const notes = [...(by === 'wildcard' ? ['by *'] : []), ...(state === 'disabled' ? ['disabled'] : [])]
      return notes.length === 0 ? name : `${name} (${notes.join(', ')})`
    })
    .join(', ')
}
