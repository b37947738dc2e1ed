import type { Schema } from '../../api/client.ts'

/** `openai-eu (by *), local`: the channels that serve a model, with what is not usual. */
export function servedBy(channels: Schema<'AdminModelDetails'>['channels']): string {
  return channels
    .map(({ name, by, state, blocked }) => {
      const notes = [
        ...(by === 'wildcard' ? ['by *'] : []),
        ...(blocked ? ['blocked'] : []),
        ...(state === 'disabled' ? ['disabled'] : []),
      ]
      return notes.length === 0 ? name : `${name} (${notes.join(', ')})`
    })
    .join(', ')
}
