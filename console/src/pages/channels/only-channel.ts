import type { Schema } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'

type OnlyChannelFor = Schema<'Health'>['channels'][number]['only_channel_for']

const named = 5

/**
 * Which models no other channel can answer now: `gpt-5 and 2 others have no other channel that works.` Empty
 * if there are none. `of`: of channels that are in trouble together.
 */
export function onlyChannelWords(of: readonly OnlyChannelFor[]): string {
  const names = [...new Set(of.flatMap(({ models }) => models))].sort()
  const unnamed = Math.max(0, ...of.map(({ count, models }) => count - models.length))
  const all = names.length + unnamed
  if (all === 0) return ''
  const shown = names
    .slice(0, all <= named ? named : named - 1)
    .map((name) => (name === '*' ? 'any other model' : name))
  const others = all - shown.length
  const parts = others === 0 ? shown : [...shown, `${count(others)} others`]
  const list = parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
  return `${list} ${all === 1 ? 'has' : 'have'} no other channel that works.`
}
